package policy

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Never is the turn at which a run is used again that is not.
const Never = math.MaxInt

// Run is blocks in a row, as the cache sees them. All but ID, Tokens and Depth
// change with its uses.
type Run struct {
	ID     int
	Tokens int // of the whole run
	Depth  int // tokens before it

	Last   time.Duration // when a turn used it
	Turn   int           // the number of that turn
	Before int           // the turn that used it before; meaningless below two uses
	Uses   int
	Next   int // the turn that uses it next: what nobody knows, but Belady

	Line   int  // the session or agent that used it last
	Human  bool // that waits for a person, else for a tool
	Over   bool // that has ended, and somebody said so
	Leased bool // that asked to be kept

	Fixed bool // of the turn that is being served: it must not go
}

// Policy orders the runs that a cache holds.
type Policy interface {
	// Used tells that a turn used a run, whether it was held before or is from
	// now on.
	Used(r *Run)
	// Victim names a run that is not Fixed, among those used and not Gone;
	// nothing but its own memory changes. leaves are those behind which nothing
	// is held; there is one that is not Fixed.
	Victim(leaves []*Run, now time.Duration) *Run
	// Gone tells that nothing of a run is held any longer.
	Gone(r *Run)
}

// Lapser is a Policy that gives runs up though there is room.
type Lapser interface {
	Lapsed(r *Run, now time.Duration) bool
}

// Waiter is a Policy that hears of pauses: how long a line was away for, or
// that it will not come back.
type Waiter interface {
	Returned(human bool, away time.Duration)
}

// Rule is a policy that can be had by name.
type Rule struct {
	Name  string
	About string                // one line for people
	New   func(size int) Policy // for a cache of so many tokens
}

// All lists the policies, the two that every table has first and last.
func All() []Rule {
	return []Rule{
		{"lru", "what was not used for longest: what engines do", fixed(scored(lru))},
		{"lru-k", "what was used twice longest ago, K = 2 (O'Neil 1993)", fixed(scored(lru2))},
		{"s3fifo", "two queues and a memory of what left (Yang 2023)", newS3FIFO},
		{"sieve", "one queue, one hand (Zhang 2024)", newSieve},
		{"gdsf", "clock + uses × cost of computing a token again (Cherkasova 1998)", newGDSF},
		{"ttl", "LRU, and nothing is kept for more than five minutes unused", fixed(ttl{scored(lru)})},
		{"lease", "LRU, but leased lines keep theirs for five minutes, up to 30 % of the cache", newLease},
		{"value", "least chance to be asked for soon × cost of computing it again, learnt as it goes", newValue},
		{"belady", "what will not be asked for for longest: the optimum, by looking ahead", fixed(scored(belady))},
	}
}

// The policies that every table has.
const (
	LRU    = "lru"
	Belady = "belady"
)

// Find returns the policy of that name.
func Find(name string) (Rule, error) {
	for _, r := range All() {
		if r.Name == name {
			return r, nil
		}
	}
	return Rule{}, fmt.Errorf("policy %q: known are %s", name, strings.Join(Names(), ", "))
}

// Names lists the names of the policies.
func Names() (names []string) {
	for _, r := range All() {
		names = append(names, r.Name)
	}
	return names
}

// fixed makes a policy that does not depend on the size.
func fixed(p Policy) func(int) Policy { return func(int) Policy { return p } }

// scored is a policy without a memory: the leaf with the lowest score goes.
type scored func(r *Run, now time.Duration) float64

// Used is nothing to a score.
func (scored) Used(*Run) {}

// Gone is nothing to a score.
func (scored) Gone(*Run) {}

// Victim is the leaf with the lowest score; of equal ones the deepest, then the
// first by number, so that an order of leaves does not matter.
func (s scored) Victim(leaves []*Run, now time.Duration) (worst *Run) {
	low := 0.0
	for _, r := range leaves {
		if r.Fixed {
			continue
		}
		x := s(r, now)
		if worst == nil || x < low || x == low && (r.Depth > worst.Depth || r.Depth == worst.Depth && r.ID < worst.ID) {
			worst, low = r, x
		}
	}
	return worst
}
