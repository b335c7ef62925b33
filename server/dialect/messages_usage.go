package dialect

import (
	"time"

	"github.com/agentinfer/dyn/turn"
)

// marked tells which part of a prompt the client asked to cache: the tokens
// up to the last cache_control, and for how long that asks.
type marked struct {
	mark int // tokens; -1 when nobody told
	tail bool
	ttl  time.Duration
}

// newMarked finds the last ask in a turn. While nobody tells its position in
// tokens, an ask at the end of the last message stands for the whole prompt;
// any other for nothing.
func newMarked(t *turn.Turn) marked {
	m := marked{mark: -1}
	if t.Hints.Lease > 0 {
		m.tail, m.ttl = true, t.Hints.Lease
		return m
	}
	for i := len(t.Messages) - 1; i >= 0 && m.ttl == 0; i-- {
		bs := t.Messages[i].Blocks
		for j := len(bs) - 1; j >= 0 && m.ttl == 0; j-- {
			m.ttl = bs[j].Lease
		}
		m.tail = m.ttl > 0 && i == len(t.Messages)-1
	}
	for i := len(t.Tools) - 1; i >= 0 && m.ttl == 0; i-- {
		m.ttl = t.Tools[i].Lease
	}
	return m
}

// split divides a prompt's tokens: found in the cache, new up to the mark,
// and new after it.
func (m marked) split(u turn.Usage) (read, made, rest int) {
	mark := m.mark
	if mark < 0 && m.tail {
		mark = u.Prompt
	}
	read = min(u.Cached, u.Prompt)
	made = max(min(mark, u.Prompt)-read, 0)
	return read, made, u.Prompt - read - made
}

// appendUsage appends the usage object. input_tokens is only what neither
// was read from the cache nor is asked to be kept there; the three add up to
// the prompt.
func (m marked) appendUsage(dst []byte, u turn.Usage) []byte {
	read, made, rest := m.split(u)
	short, long := made, 0
	if m.ttl >= time.Hour {
		short, long = 0, made
	}
	dst = appendInt(append(dst, `{"input_tokens":`...), int64(rest))
	dst = appendInt(append(dst, `,"cache_creation_input_tokens":`...), int64(made))
	dst = appendInt(append(dst, `,"cache_read_input_tokens":`...), int64(read))
	dst = appendInt(append(dst, `,"cache_creation":{"ephemeral_5m_input_tokens":`...), int64(short))
	dst = appendInt(append(dst, `,"ephemeral_1h_input_tokens":`...), int64(long))
	dst = appendInt(append(dst, `},"output_tokens":`...), int64(u.Output))
	if u.Thinking > 0 {
		dst = appendInt(append(dst, `,"output_tokens_details":{"thinking_tokens":`...), int64(u.Thinking))
		dst = append(dst, '}')
	}
	return append(dst, `,"service_tier":"standard"}`...)
}
