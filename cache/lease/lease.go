package lease

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"
)

// State is what became of a lease.
type State string

// The states.
const (
	Asked   State = "asked"    // granted, and nobody has seen yet whether it is kept
	Kept    State = "kept"     // the worker had it when it was last used
	Cut     State = "cut"      // only a part is within the budget, or none
	GaveWay State = "gave way" // to leases of more worth
	Lost    State = "lost"     // the worker did not have it any more
	Ended   State = "ended"
)

// Who asks for a lease.
const (
	ByClient = "cache_control"
	ByPin    = "pin"
	ByRange  = "retention"
)

// Line is one agent's turns with one model. A lead's Agent is "main".
type Line struct{ Model, Session, Agent string }

// Of is the line of an agent; "" is the lead.
func Of(model, session, agent string) Line { return Line{model, session, cmp.Or(agent, "main")} }

// Lease is a promise to try to keep a prefix for a time.
type Lease struct {
	ID     string // see ID
	Tenant string
	Line          // that used it last; others may hold it too
	Lines  int    // that hold it
	Worker string // where it is to be kept
	Hash   uint64 // chain hash of the last whole block of the prefix; 0 when that is not known
	Block  int    // tokens of a block; 0 with Hash
	Tokens int    // of the prefix
	Held   int    // tokens of it that are within the budget
	Found  int    // tokens of it that its worker had when it was last used; -1 nobody has seen

	TTL    time.Duration
	Asked  time.Time
	Used   time.Time
	Ends   time.Time
	By     string // ByClient, ByPin or ByRange
	Weight float64
	State  State
	Why    string // of the state, for a person; "" needs none
	Turn   string // that asked or used it last
}

// ID names the lease of a prefix: an ask for the same prefix of the same model
// is the same lease, whoever asks. One whose hash is not known is told by its
// line.
func ID(l Line, hash uint64, tokens int) string {
	b := binary.LittleEndian.AppendUint64(nil, hash)
	b = binary.LittleEndian.AppendUint64(b, uint64(tokens))
	b = append(b, l.Model...)
	if hash == 0 {
		b = append(append(append(append(b, 0), l.Session...), 0), l.Agent...)
	}
	return fmt.Sprintf("l%016x", xxh3.HashSeed(b, seed))
}

// seed is that of the chains, so that a prefix has the same name in all rooms.
const seed = 1337

// Mark is one ask of a turn for a lease: the prompt up to there.
type Mark struct {
	Tokens int
	TTL    time.Duration
	By     string  // "" is ByClient
	Weight float64 // that its worth is multiplied with; 0 is 1
}

// Turn is a turn that was placed, as the book needs it. Nothing of it is kept
// but strings.
type Turn struct {
	ID     string
	Tenant string
	Line   Line
	Worker string
	Chain  []uint64 // of its prompt, in blocks of Block tokens
	Block  int      // 0: the worker's blocks are not known, and leases have no hashes
	Prompt int      // tokens
	Marks  []Mark   // from the start of the prompt to its end

	// Rewrites says that the line's own prompt goes on with this turn, so that
	// leases which are no part of it are of a history that nobody repeats.
	Rewrites bool
}

// Used is what became of a turn's leases.
type Used struct {
	Leases []Lease // of the turn's marks, in their order
	Due    []Due   // what it used of leases that there were, for Found
}

// Due is a lease that was there before a turn used it.
type Due struct {
	ID     string // of the lease that it is now
	Worker string // where it was to be kept
	Held   int    // tokens
}

// Effect is how many tokens of a line are leased at a worker, and until when.
// None are left where Tokens is 0. Until is when the line asked last, which others
// that hold the same prefix may outlive.
type Effect struct {
	Line   Line
	Worker string
	Tokens int
	Until  time.Time
}

// Counts count since the start.
type Counts struct {
	Asked   int64 // all marks
	Renewed int64 // of those, for a prefix that had a lease there
	Kept    int64 // times a lease was used, and its worker had it
	Lost    int64 // times it had not
	Cut     int64
	GaveWay int64
	Moved   int64 // leases that followed their line to another worker
	Ended   int64
	Dropped int64 // that ended because there were too many
}
