package reuse

import (
	"fmt"
	"slices"

	"github.com/agentinfer/dyn/ledger"
)

// Slack is how many tokens may be computed beyond what is new: two blocks.
const Slack = 2 * 16

// side are kinds of turns with a prompt of their own.
var side = []string{"title", "classifier", "probe"}

// compaction is the kind of a turn that asks for a summary.
const compaction = "compaction"

// Miss is a turn that computed more than what was new.
type Miss struct {
	Turn, Before ledger.Turn
	Again, Fresh int // tokens computed, and tokens that were new
}

func (m Miss) String() string {
	t := m.Turn
	return fmt.Sprintf("%s %s/%s %s on %s (before %s): computed %d of %d tokens, new are %d",
		t.ID, t.Session, t.Agent, t.Kind, t.Worker, m.Before.Worker, m.Again, t.Prompt, m.Fresh)
}

// Sum is what Check found.
type Sum struct {
	Checked  int // turns that had one before
	Agents   int
	Restarts []ledger.Turn // prompts shorter than the one before
	Misses   []Miss
}

// Check judges turns, in any order, agent by agent.
func Check(turns []ledger.Turn) Sum {
	turns = slices.Clone(turns)
	slices.SortStableFunc(turns, func(a, b ledger.Turn) int { return a.At.Compare(b.At) })
	var s Sum
	last := map[[2]string]ledger.Turn{}
	summed := map[string]bool{} // sessions whose last turn was a compaction
	for _, t := range turns {
		if t.Prompt == 0 || slices.Contains(side, t.Kind) {
			continue
		}
		key := [2]string{t.Session, t.Agent}
		before, seen := last[key]
		last[key] = t
		after := summed[t.Session]
		summed[t.Session] = t.Kind == compaction
		apart := t.Kind == compaction && before.Kind == compaction
		if !seen || apart || (t.Prompt >= before.Prompt && t.Cached < 0) {
			continue
		}
		m := miss(t, before)
		switch {
		case t.Prompt < before.Prompt, after && m.Again > m.Fresh+Slack:
			s.Restarts = append(s.Restarts, t)
			continue
		case m.Again > m.Fresh+Slack:
			s.Misses = append(s.Misses, m)
		}
		s.Checked++
	}
	s.Agents = len(last)
	return s
}

// miss tells what a turn computed, and what was new in it.
func miss(t, before ledger.Turn) Miss {
	kept := before.Output
	if t.Messages > 0 && t.Messages <= before.Messages+1 {
		kept = 0
	}
	return Miss{t, before, t.Prompt - t.Cached, max(t.Prompt-(before.Prompt+kept), 0)}
}
