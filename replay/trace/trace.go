package trace

import (
	"math/bits"
	"time"
)

// Trace is recorded load.
type Trace struct {
	Name     string
	Format   string
	Block    int  // tokens of a content
	Timed    bool // sessions have arrival times that mean something
	Paused   bool // turns wait for the one before and a pause
	Sessions []Session
	Notes    []string // what of it is not recorded but estimated, for people
}

// Session is a line of turns.
type Session struct {
	ID     string
	At     time.Duration // since the trace began
	Prefix uint64        // names what it shares with others from the start: tools and system prompt; 0 unknown
	Shared int           // tokens of that
	Parent int           // session that started it, as index+1; 0 is none
	After  int           // turns of the parent that had ended when it started
	Turns  []Turn
}

// Turn is one request and its answer.
type Turn struct {
	At     time.Duration // since the session began
	Pause  time.Duration // between the end of the turn before and this one
	Prompt int           // tokens
	Output int           // tokens
	Keep   int           // contents taken over from the turn before
	Runs   []Run         // the contents behind those
	Human  bool          // the turn before ended the agent's work: a person asked this one
}

// Run is N contents in a row: First, First+1 and so on.
type Run struct {
	First uint64
	N     int
}

// Common marks a content that is the same in all sessions. Others belong to
// one session, and are others again when the session is played a second time.
const Common = 1 << 63

// Contents appends to prev, cut to what the turn keeps, its own contents. The
// result shares prev's memory.
func (t *Turn) Contents(prev []uint64) []uint64 {
	out := prev[:min(t.Keep, len(prev))]
	for _, r := range t.Runs {
		for i := range r.N {
			out = append(out, r.First+uint64(i))
		}
	}
	return out
}

// Len is how many contents the turn has.
func (t *Turn) Len() int {
	n := t.Keep
	for _, r := range t.Runs {
		n += r.N
	}
	return n
}

// Turns counts the turns of all sessions.
func (t *Trace) Turns() (n int) {
	for i := range t.Sessions {
		n += len(t.Sessions[i].Turns)
	}
	return n
}

// Reuse is what a cache without bounds would find: how many contents the trace
// has, and how many of them came up before. Sessions count as played once.
func (t *Trace) Reuse() (all, again int) {
	seen := map[uint64]struct{}{}
	for i := range t.Sessions {
		s := &t.Sessions[i]
		var line []uint64
		for j := range s.Turns {
			u := &s.Turns[j]
			keep := min(u.Keep, len(line))
			line = u.Contents(line)
			all += len(line)
			again += keep
			for _, c := range line[keep:] {
				if _, ok := seen[c]; ok {
					again++
				}
				seen[c] = struct{}{}
			}
		}
	}
	return all, again
}

// Mix spreads the bits of two numbers over one.
func Mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xbf58476d1ce4e5b9)
	x := hi ^ lo ^ bits.RotateLeft64(a, 32)
	x ^= x >> 29
	x *= 0x94d049bb133111eb
	return x ^ x>>32
}
