package main

import (
	"hash/fnv"

	"github.com/agentinfer/dyn/replay/trace"
)

// line is a session's conversation as token ids.
type line struct {
	block    int
	own      uint64 // marks what no other session has
	contents []uint64
	prompt   []uint32 // of the last turn
	answer   []uint32 // to it
	turns    int
}

func newLine(session string, block int) *line {
	h := fnv.New64a()
	h.Write([]byte(session))
	return &line{block: block, own: h.Sum64()}
}

// next is the prompt of the next turn. Where it keeps all of the one before the
// answer follows, as far as there is room.
func (l *line) next(u *trace.Turn) []uint32 {
	l.turns++
	l.contents = u.Contents(l.contents)
	keep := min(u.Keep, len(l.prompt)/l.block)
	ids := make([]uint32, 0, u.Prompt+len(l.answer))
	if ids = append(ids, l.prompt[:keep*l.block]...); keep > 0 && keep == len(l.prompt)/l.block {
		ids = append(append(ids[:0], l.prompt...), l.answer...)
	}
	ids = ids[:min(len(ids), u.Prompt)]
	for i := len(ids); i < u.Prompt; i++ {
		c := trace.Mix(l.own, uint64(l.turns)) // of the block that is not full
		if at := i / l.block; at < len(l.contents) {
			c = l.contents[at]
		}
		ids = append(ids, word(trace.Mix(c, uint64(i%l.block))))
	}
	l.prompt, l.answer = ids, nil
	return ids
}

// word is a token of the simulated model that is no marker.
func word(x uint64) uint32 { return uint32(300 + x%7000) }
