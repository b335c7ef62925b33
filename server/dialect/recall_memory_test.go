package dialect

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestRecallCountsItsMemory fills a Recall with conversations of one kind and
// holds what it counts to what the heap grew by.
func TestRecallCountsItsMemory(t *testing.T) {
	for _, c := range []struct{ tokens, bodies int }{{5000, 500}, {60000, 20}} {
		body := load(c.tokens)
		at := bytes.Index(body, []byte(slot))
		rc := NewRecall(1 << 30)
		before := heap()
		for i := range c.bodies {
			copy(body[at:], fmt.Appendf(nil, "%012d", i))
			if _, err := (chat{}).Decode(body, nil, rc); err != nil {
				t.Fatal(err)
			}
		}
		grown, counted := heap()-before, rc.Stats().Bytes
		t.Logf("%d tokens: %d bytes on the heap, %d counted", c.tokens, grown, counted)
		if grown*100 < counted*85 || grown*100 > counted*110 {
			t.Errorf("%d tokens: the heap grew by %d bytes, %d were counted", c.tokens, grown, counted)
		}
		runtime.KeepAlive(rc)
	}
}

// heap is how many bytes are live.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestRecallKeepsWhatComesAgain floods a Recall with conversations of one
// turn: they stay within their part of it, and drive out none that goes on.
func TestRecallKeepsWhatComesAgain(t *testing.T) {
	rc := NewRecall(1 << 20)
	decode := func(body []byte) {
		t.Helper()
		if _, err := For(turn.Chat).Decode(body, nil, rc); err != nil {
			t.Fatal(err)
		}
	}
	talk := func(n int) []byte {
		return growingBody(turn.Chat, fmt.Sprintf(`{"role":"user","content":"%s"},`, bytes.Repeat([]byte("x"), talkLeast))+string(bytes.TrimSuffix(bytes.Repeat([]byte(`{"role":"user","content":"go on"},`), n), []byte(","))))
	}
	body := load(5000)
	at := bytes.Index(body, []byte(slot))
	others := 0
	flood := func() {
		for range 500 {
			others++
			copy(body[at:], fmt.Appendf(nil, "%012d", others))
			decode(body)
		}
	}
	decode(talk(1))
	flood() // takes the first turn along
	for n := range 3 {
		decode(talk(n + 2))
		was := rc.Stats().Hits
		flood()
		if once := rc.talks.once.bytes; once > rc.talks.most/4+32<<10 {
			t.Errorf("conversations of one turn take %d of %d bytes", once, rc.talks.most)
		}
		decode(talk(n + 2))
		if rc.Stats().Hits-was < talkLeast {
			t.Errorf("turn %d: the conversation is forgotten", n+2)
		}
	}
}

// TestRecallAmongMany finds a conversation among many that begin alike.
func TestRecallAmongMany(t *testing.T) {
	rc := NewRecall(64 << 20)
	body := func(who, turns int) []byte {
		steps := fmt.Sprintf(`{"role":"user","content":"%d %s"}`, who, bytes.Repeat([]byte("x"), talkLeast))
		for i := range turns {
			steps += fmt.Sprintf(`,{"role":"user","content":"%d of %d"}`, i, who)
		}
		return growingBody(turn.Chat, steps)
	}
	const many = 50
	for n := range 4 {
		was := rc.Stats()
		for who := range many {
			same(t, turn.Chat, rc, body(who, n), nil)
		}
		now := rc.Stats()
		if hits, seen := now.Hits-was.Hits, now.Seen-was.Seen; n > 0 && hits*10 < seen*9 {
			t.Errorf("turn %d: %d of %d bytes recognised", n, hits, seen)
		}
		if now.Conversations != many {
			t.Errorf("turn %d: %d conversations kept, want %d", n, now.Conversations, many)
		}
	}
}
