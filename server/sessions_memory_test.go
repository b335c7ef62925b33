//go:build !race

package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestSessionsInMemory: 200 sessions of 100,000 tokens, two turns each, stay
// below 1 GiB of resident memory, client and all, and none is let go.
func TestSessionsInMemory(t *testing.T) {
	const sessions, tokens = 200, 100_000
	var least atomic.Int64 // tokens of a prompt
	least.Store(tokens * 2)
	st := newStage(t, &puppet{name: "w0", caps: caps(2 * tokens), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		least.Store(min(least.Load(), int64(j.Prompt.Len())))
		return aWord(ctx, j)
	}})
	text := words(100)
	body := func(session, turns int) string {
		var b strings.Builder
		fmt.Fprintf(&b, `{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"session %d"}`, session)
		for i := range 132 {
			fmt.Fprintf(&b, `,{"role":"assistant","content":"step %d of %d"},{"role":"user","content":%s}`, i, session, quote(text))
		}
		for range turns {
			b.WriteString(`,{"role":"assistant","content":"word"},{"role":"user","content":"go on"}`)
		}
		return b.String() + "]}"
	}
	debug.FreeOSMemory() // what other tests left
	for turns := range 2 {
		for i := range sessions {
			if status, answer := st.post(t.Context(), chatPath, body(i, turns), "x-session-id", fmt.Sprint(i)); status != 200 {
				t.Fatalf("%d %.200s", status, answer)
			}
		}
	}
	m := st.s.Snapshot().Memory
	t.Logf("%d sessions of %d tokens at least: prompts %d MiB, process %d MiB", m.Agents, least.Load(), m.Prompts>>20, m.RSS>>20)
	if m.Agents != sessions || m.Dropped != 0 || least.Load() < tokens {
		t.Errorf("%d agents, %d were let go, the shortest prompt has %d tokens", m.Agents, m.Dropped, least.Load())
	}
	if m.RSS > 1<<30 {
		t.Errorf("the process takes %d MiB", m.RSS>>20)
	}
}

// TestIdleSessions: 5,000 sessions that each had a turn take little memory, and
// the first of them goes on as the last one does.
func TestIdleSessions(t *testing.T) {
	const sessions, each = 5000, 64 << 10
	large := caps(4000)
	large.KVTokens = 4 << 20
	st := newStage(t, &puppet{name: "w0", caps: large, play: aWord})
	text := quote(words(20))
	speak := func(i int) {
		t.Helper()
		body := fmt.Sprintf(`{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"session %d"},{"role":"assistant","content":"yes"},{"role":"user","content":%s}]}`, i, text)
		if status, answer := st.post(t.Context(), chatPath, body, "x-session-id", fmt.Sprint(i)); status != 200 {
			t.Fatalf("%d %.200s", status, answer)
		}
	}
	speak(0)
	before := heap()
	for i := range sessions {
		speak(i)
	}
	if grown := int64(heap()) - int64(before); grown > sessions*each {
		t.Errorf("%d sessions take %d MiB", sessions, grown>>20)
	}
	for _, i := range []int{0, sessions - 1} {
		known := st.s.all()[0].indexes[16].Stats().Blocks
		speak(i)
		if now := st.s.all()[0].indexes[16].Stats().Blocks; now != known || known < sessions {
			t.Errorf("session %d goes on: %d new blocks, %d known before", i, now-known, known)
		}
	}
	if p := st.s.Snapshot(); len(p.Sessions) > sessionsShown || p.Memory.Agents > sessions || p.Queue.Depth != 0 {
		t.Errorf("%d sessions are shown, %d agents held, %d turns wait", len(p.Sessions), p.Memory.Agents, p.Queue.Depth)
	}
}
