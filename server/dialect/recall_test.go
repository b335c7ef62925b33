package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/prompt/key"
	"github.com/agentinfer/dyn/turn"
	"pgregory.net/rapid"
)

// same holds a decoding that remembers to one that does not.
func same(t testing.TB, d turn.Dialect, rc *Recall, body []byte, header func(string) string) {
	t.Helper()
	want, wantErr := For(d).Decode(body, header, nil)
	got, err := For(d).Decode(bytes.Clone(body), header, rc)
	got = unkeyed(t, got)
	if !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("%s: got error %v, want %v", d, err, wantErr)
	}
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Fatalf("%s: got\n%.3000s\nwant\n%.3000s", d, g, w)
	}
}

// unkeyed is a turn without the keys that its messages have, which must be
// those of what they say.
func unkeyed(t testing.TB, tn *turn.Turn) *turn.Turn {
	t.Helper()
	if tn == nil {
		return nil
	}
	bare := *tn
	bare.Messages = slices.Clone(tn.Messages)
	var k key.Maker
	for i := range bare.Messages {
		m := &bare.Messages[i]
		*m = turn.Message{Role: m.Role, Blocks: m.Blocks}
		if noted, made := k.Of(&tn.Messages[i]), k.Of(m); noted != made {
			t.Errorf("%s: message %d has the key %v, want %v", tn.Dialect, i, noted, made)
		}
	}
	return &bare
}

// TestRecallRecordings decodes all that real clients were recorded to send, in
// their order, going on from what came before: the turns are the same, and
// most of the conversations is not read again.
func TestRecallRecordings(t *testing.T) {
	rc := NewRecall(64 << 20)
	for _, r := range recordings(t) {
		if c := codecOf(&r); c != nil {
			same(t, c.Dialect(), rc, r.full, r.header)
			same(t, c.Dialect(), rc, r.full, r.header) // and once more
		}
	}
	s := rc.Stats()
	t.Logf("%+v", s)
	if s.Hits*2 < s.Seen {
		t.Errorf("%d of %d bytes recognised", s.Hits, s.Seen)
	}
}

// TestRecallGrows goes on with a conversation turn by turn, in each dialect.
func TestRecallGrows(t *testing.T) {
	for d, elements := range growing {
		rc := NewRecall(4 << 20)
		var all bytes.Buffer
		var last *turn.Turn
		for i := range 200 {
			if all.Len() > 0 {
				all.WriteByte(',')
			}
			fmt.Fprintf(&all, elements, i)
			body := growingBody(d, all.String())
			same(t, d, rc, body, nil)
			now, err := For(d).Decode(body, nil, rc)
			if err != nil {
				t.Fatal(err)
			}
			if last != nil && len(body) > 3*talkLeast {
				shared(t, d, last, now)
			}
			last = now
		}
		if s := rc.Stats(); s.Conversations != 1 || s.Hits*100 < s.Seen*90 {
			t.Errorf("%s: %+v", d, s)
		}
	}
}

// growing is a step of a tool loop, as elements of a conversation.
var growing = map[turn.Dialect]string{
	turn.Messages: `{"role":"assistant","content":[{"type":"text","text":"n"},{"type":"tool_use","id":"c%[1]d","name":"Read","input":{"p":%[1]d}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":"a \"line\"\n"}]}`,
	turn.Chat: `{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"Read","arguments":"{\"p\":%[1]d}"}}]},` +
		`{"role":"tool","tool_call_id":"c%[1]d","content":"a \"line\"\n"}`,
	turn.Responses: `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"function_call","call_id":"c%[1]d","name":"spawn","namespace":"multi","arguments":"{\"p\":%[1]d}"},` +
		`{"type":"function_call","call_id":"d%[1]d","name":"spawn","namespace":"multi","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c%[1]d","output":"a \"line\"\n"},{"type":"function_call_output","call_id":"d%[1]d","output":""}`,
}

func growingBody(d turn.Dialect, elements string) []byte {
	tools := `[{"type":"function","name":"Read","function":{"name":"Read"}},{"type":"namespace","name":"multi","tools":[{"type":"function","name":"spawn","description":"` + string(bytes.Repeat([]byte("d"), partLeast)) + `"}]}]`
	switch d {
	case turn.Messages:
		return []byte(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"go"},` + elements + `],"system":"be` + string(bytes.Repeat([]byte(" terse"), 300)) + `","metadata":{}}`)
	case turn.Responses:
		return []byte(`{"model":"m","instructions":"be` + string(bytes.Repeat([]byte(" terse"), 300)) + `","tools":` + tools + `,"input":[{"role":"user","content":"go"},` + elements + `],"store":false}`)
	}
	return []byte(`{"messages":[{"role":"system","content":"be terse"},{"role":"user","content":"go"},` + elements + `],"tools":` + tools + `,"model":"m"}`)
}

// shared checks that what two turns have in common is the same value.
func shared(t *testing.T, d turn.Dialect, a, b *turn.Turn) {
	t.Helper()
	for i := range len(a.Messages) - 2 {
		x, y := &a.Messages[i], &b.Messages[i]
		if &x.Blocks[0] != &y.Blocks[0] {
			t.Fatalf("%s: message %d of %d was decoded again", d, i, len(a.Messages))
		}
		if _, _, ok := y.Key(); !ok {
			t.Fatalf("%s: message %d of %d has no key", d, i, len(a.Messages))
		}
	}
}

// TestRecallMutations changes bodies at random between requests.
func TestRecallMutations(t *testing.T) {
	type seeded struct {
		d    turn.Dialect
		body []byte
	}
	var seeds []seeded
	for d, step := range growing {
		var all bytes.Buffer
		for i := range 30 {
			fmt.Fprintf(&all, step+",", i)
		}
		seeds = append(seeds, seeded{d, growingBody(d, string(bytes.TrimSuffix(all.Bytes(), []byte(","))))})
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(seeds).Draw(rt, "body")
		rc := NewRecall(rapid.SampledFrom([]int{1 << 14, 1 << 24}).Draw(rt, "room"))
		body := bytes.Clone(s.body)
		for range rapid.IntRange(2, 6).Draw(rt, "requests") {
			same(t, s.d, rc, body, nil)
			body = mutated(rt, body, s.body)
		}
	})
}

// mutated returns a body with a few changes: bytes written over, cut out or
// put in, among them such that JSON consists of.
func mutated(rt *rapid.T, body, whole []byte) []byte {
	if len(body) < recallBody {
		body = whole
	}
	body = bytes.Clone(body)
	for range rapid.IntRange(0, 2).Draw(rt, "changes") {
		at := rapid.IntRange(0, len(body)-1).Draw(rt, "at")
		if rapid.Bool().Draw(rt, "late") {
			at = len(body) - 1 - at/8
		}
		piece := rapid.SampledFrom([]string{
			"", " ", "x", "\xff", `"`, `{`, `}`, `[`, `]`, `,`, `\u0000`, `{"role":"user","content":"new"},`,
			`{"type":"item","role":"user","content":[]},`, `"messages":[],`, `"input":[],`, `"tools":[],`, `"cache_control":{"type":"ephemeral"},`,
		}).Draw(rt, "piece")
		end := min(at+rapid.SampledFrom([]int{0, 0, 1, 5, 400}).Draw(rt, "cut"), len(body))
		body = append(body[:at:at], append([]byte(piece), body[end:]...)...)
		if len(body) == 0 {
			return whole
		}
	}
	return body
}

// TestRecallIsBounded fills a Recall with more than it may hold.
func TestRecallIsBounded(t *testing.T) {
	rc := NewRecall(256 << 10)
	for i := range 100 {
		body := fmt.Appendf(nil, `{"model":"m%d","messages":[{"role":"user","content":"%s"},{"role":"user","content":"b"}]}`, i, bytes.Repeat([]byte("x"), 10<<10))
		same(t, turn.Chat, rc, body, nil)
		if s := rc.Stats(); s.Bytes > 256<<10 {
			t.Fatalf("%+v", s)
		}
		same(t, turn.Chat, rc, body, nil)
	}
	if s := rc.Stats(); s.Bytes > 256<<10 || s.Conversations < 5 || s.Conversations > 12 {
		t.Errorf("%+v", s)
	}
}

// TestRecallClear: after it nothing is held, and what comes is remembered again.
func TestRecallClear(t *testing.T) {
	rc := NewRecall(1 << 20)
	body := fmt.Appendf(nil, `{"model":"m","tools":[{"type":"function","name":"f","description":"%s"}],"input":[{"role":"user","content":"%s"}]}`, bytes.Repeat([]byte("n"), 2*partLeast), bytes.Repeat([]byte("x"), 2*talkLeast))
	for range 2 {
		same(t, turn.Responses, rc, body, nil)
		same(t, turn.Responses, rc, body, nil)
		if s := rc.Stats(); s.Conversations != 1 || s.Bytes < len(body) {
			t.Errorf("%+v", s)
		}
		rc.Clear()
		if s := rc.Stats(); s.Conversations != 0 || s.Bytes != 0 || s.Hits == 0 {
			t.Errorf("after Clear %+v", s)
		}
	}
}

// TestRecallForgetsNoNames: calls get their flat names by the tools of their
// own request.
func TestRecallForgetsNoNames(t *testing.T) {
	rc := NewRecall(1 << 20)
	call := `{"type":"function_call","call_id":"c","name":"b","namespace":"a","arguments":"{}"},` + fmt.Sprintf(`{"role":"user","content":"%s"}`, bytes.Repeat([]byte("x"), talkLeast))
	for _, tools := range []string{
		`[]`, `[{"type":"function","name":"a__b"},{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}]`, `[]`,
	} {
		for range 3 {
			same(t, turn.Responses, rc, []byte(`{"model":"m","tools":`+tools+`,"input":[`+call+`]}`), nil)
		}
	}
}

// TestRecallConcurrently decodes one session's bodies at the same time.
func TestRecallConcurrently(t *testing.T) {
	rc := NewRecall(1 << 20)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var all bytes.Buffer
			for i := range 120 {
				if i > 0 {
					all.WriteByte(',')
				}
				fmt.Fprintf(&all, growing[turn.Messages], i)
				body := growingBody(turn.Messages, all.String())
				want, _ := For(turn.Messages).Decode(body, nil, nil)
				if got, err := For(turn.Messages).Decode(body, nil, rc); err != nil || !reflect.DeepEqual(unkeyed(t, got), want) {
					t.Errorf("worker %d, step %d: %v", w, i, err)
					return
				}
			}
		}()
	}
	wg.Wait()
}

// TestRecallAllocations: a turn that adds little to a long conversation takes
// memory for what is new, and the list of messages.
func TestRecallAllocations(t *testing.T) {
	rc := NewRecall(64 << 20)
	var all bytes.Buffer
	text := bytes.Repeat([]byte(`a long line of the file\n`), 80)
	for i := range 200 {
		fmt.Fprintf(&all, `{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]},`, i, i, text)
	}
	next := 0
	body := func() []byte {
		next++
		fmt.Fprintf(&all, `{"role":"assistant","content":"next %d"},{"role":"user","content":"go on"},`, next)
		return growingBody(turn.Messages, string(bytes.TrimSuffix(all.Bytes(), []byte(","))))
	}
	decodeOnce := func() {
		if _, err := (messages{}).Decode(body(), nil, rc); err != nil {
			t.Fatal(err)
		}
	}
	decodeOnce()
	bodies := [][]byte{}
	for range 6 {
		bodies = append(bodies, body())
	}
	i := 0
	n := testing.AllocsPerRun(5, func() {
		if _, err := (messages{}).Decode(bodies[i], nil, rc); err != nil {
			t.Fatal(err)
		}
		i++
	})
	if n > 80 {
		t.Errorf("%v allocations for two new messages", n)
	}
}
