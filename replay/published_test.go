package replay

import (
	"math"
	"testing"

	"github.com/agentinfer/dyn/replay/trace"
)

// Mooncake's conversations find 36.64 % of their blocks again in a cache
// without bounds, 37.4 % of their tokens (TestReuse counts blocks). One worker
// that forgets nothing finds just these, and eight that take turns far fewer.
func TestConversationReuse(t *testing.T) {
	tr := public(t, conversation)
	c := Config{Strategy: "round-robin", Open: true, Engine: Blocks, KV: -1, Workers: 1, Block: 512}
	one := run(t, tr, c)
	if want := found(tr); math.Abs(one.Hit-want) > 1e-9 || one.Turns != 12031 {
		t.Errorf("want a hit of %.4f, got %.4f in %d turns", want, one.Hit, one.Turns)
	}
	c.Workers = 8
	if eight := run(t, tr, c); eight.Hit > one.Hit/2 || eight.Hit < 0.08 {
		t.Errorf("eight workers in turn: hit %.4f, one %.4f", eight.Hit, one.Hit)
	}
}

// found is the share of tokens that a cache without bounds finds, whole blocks
// of the trace's size only and never the last token.
func found(t *trace.Trace) float64 {
	seen := map[uint64]bool{}
	hit, all := 0, 0
	for _, s := range t.Sessions {
		for _, u := range s.Turns {
			line := u.Contents(nil)
			n := 0
			for n < min(len(line), (u.Prompt-1)/t.Block) && seen[line[n]] {
				n++
			}
			for _, c := range line[:u.Prompt/t.Block] {
				seen[c] = true
			}
			hit += n * t.Block
			all += u.Prompt
		}
	}
	return float64(hit) / float64(all)
}
