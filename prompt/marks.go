package prompt

import (
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// marks places every ask for a lease of the turn.
func (b *builder) marks() []Mark {
	var ms []Mark
	ask := func(at int, ttl time.Duration) {
		if ttl > 0 {
			ms = append(ms, Mark{Tokens: b.idsAt(at), TTL: ttl})
		}
	}
	for i := range b.t.Tools {
		ask(b.end(-1), b.t.Tools[i].Lease)
	}
	for i := range b.t.Messages {
		for j := range b.t.Messages[i].Blocks {
			if ttl := b.t.Messages[i].Blocks[j].Lease; ttl > 0 {
				ask(b.end(i), ttl)
			}
		}
	}
	ask(len(b.text), b.t.Hints.Lease)
	return ms
}

// end is where in the text message i ends; that of a leading system message,
// and of −1, is where the first other message begins.
func (b *builder) end(i int) int {
	p := &b.s.page
	leading := i < 0 || i == 0 && b.t.Messages[0].Role == turn.System
	if leading && len(b.t.Messages) > 0 && b.t.Messages[0].Role == turn.System {
		i = 0
	}
	if !leading && p.Spans[i].End >= 0 {
		return p.Spans[i].End
	}
	for i++; i < len(p.Spans); i++ {
		if p.Spans[i].Start >= 0 {
			return p.Spans[i].Start
		}
	}
	return p.Opening
}

// thoughtOpens are the marks that begin reasoning, of all families.
var thoughtOpens = []string{
	"<think>", "<mm:think>", "<seed:think>", "<|START_THINKING|>", "[THINK]", "◁think▷",
	"<|open|>think<|sep|>", "<|inner_prefix|>", "<|channel>thought", "<|content_thinking|>",
}

// thoughtCloses end it.
var thoughtCloses = []string{
	"</think>", "</mm:think>", "</seed:think>", "<|END_THINKING|>", "[/THINK]", "◁/think▷",
	"<|close|>think<|sep|>", "<|inner_suffix|>", "<channel|>",
}

// thinks reports whether a generation prompt ends inside an open think block.
func thinks(tail string) bool {
	tail = strings.TrimRight(tail, space)
	for _, s := range thoughtOpens {
		if strings.HasSuffix(tail, s) {
			return true
		}
	}
	return false
}
