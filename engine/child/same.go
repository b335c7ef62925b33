package child

import (
	"crypto/rand"
	"encoding/hex"
)

// Same reports whether the process of that number lives and is the one of
// which Born was kept.
func Same(pid int, born string) bool { return born != "" && Born(pid) == born }

// markName is what a mark is called in the environment.
const markName = "DYN_WORKER_MARK"

// NewMark makes an entry for the environment of a child that no other has.
func NewMark() string {
	word := make([]byte, 16)
	_, _ = rand.Read(word) // never fails
	return markName + "=" + hex.EncodeToString(word)
}
