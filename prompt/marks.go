package prompt

import (
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// marks places every ask for a lease of t: ends are where the ids of segs
// end, all is the length of the prompt.
func marks(t *turn.Turn, segs []Segment, ends []int, all int) []Mark {
	var ms []Mark
	ask := func(tokens int, ttl time.Duration) {
		if ttl > 0 {
			ms = append(ms, Mark{Tokens: tokens, TTL: ttl})
		}
	}
	for _, tool := range t.Tools {
		ask(ends[0], tool.Lease)
	}
	next := 0
	for i, m := range t.Messages {
		for next < len(segs)-1 && segs[next].Message < i {
			next++
		}
		for _, b := range m.Blocks {
			ask(ends[next], b.Lease)
		}
	}
	ask(all, t.Hints.Lease)
	return ms
}

// thinks reports whether the prompt ends inside an open think block.
func thinks(segs []Segment) bool {
	if len(segs) == 0 {
		return false
	}
	return strings.HasSuffix(strings.TrimRight(segs[len(segs)-1].Text, "\n"), "<think>")
}
