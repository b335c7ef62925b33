package child

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// Same reports whether the process of that number lives and is the one of
// which Born was kept.
func Same(pid int, born string) bool { return born != "" && Born(pid) == born }

// Family is a process that was started in a session of its own and all that
// came of it. Its processes are those whose environment has the mark, and,
// since a process that renames itself may overwrite what can be seen of its
// environment, those of the session.
type Family struct {
	Mark    string // see NewMark; "" is none
	Session int    // number of the session's leader, alive or not; 0 is none
	Born    string // Born of the leader
	Group   int    // only this group of the session; 0 is all. Where the leader is gone it should be set
}

// markName is what a mark is called in the environment.
const markName = "DYN_WORKER_MARK"

// IsMark reports whether NewMark has made it, by its form: what has another
// would be found in the environment of many a process.
func IsMark(s string) bool {
	word, ok := strings.CutPrefix(s, markName+"=")
	_, err := hex.DecodeString(word)
	return ok && err == nil && len(word) == 32
}

// NewMark makes an entry for the environment of a child that no other has.
func NewMark() string {
	word := make([]byte, 16)
	_, _ = rand.Read(word) // never fails
	return markName + "=" + hex.EncodeToString(word)
}
