package server

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// responses asks for a response and returns its document.
func (st *stage) responses(rest string, headers ...string) map[string]any {
	st.t.Helper()
	a := ask(st.t, "POST", st.url+"/v1/responses", `{"model":"sim",`+rest+`}`, headers...)
	if a.status != 200 {
		st.t.Fatalf("%d %s", a.status, a.body)
	}
	return doc(st.t, a.body)
}

// reading is a stage whose worker keeps the prompts that it gets.
func reading(t *testing.T) (*stage, func() string) {
	var last atomic.Pointer[turn.IDs]
	last.Store(new(turn.IDs))
	tok := simModel(t).Tokenizer()
	st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		last.Store(&j.Prompt)
		return &script{ctx, []turn.Delta{{Text: " word", IDs: tok.Encode(nil, " word"), End: &turn.End{
			Reason: turn.Cut, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 1},
		}}}}, nil
	}})
	return st, func() string { return string(tok.Decode(nil, last.Load().Flat())) }
}

// TestPrevious goes on from a response, and on from that, with input of both
// forms; the prompt is that of the whole conversation.
func TestPrevious(t *testing.T) {
	st, prompt := reading(t)
	one := st.responses(`"input":"the first question","instructions":"be brief"`)
	two := st.responses(fmt.Sprintf(`"input":[{"role":"user","content":"the second"}],"previous_response_id":%q`, one["id"]))
	if two["previous_response_id"] != one["id"] || two["store"] != true {
		t.Errorf("previous %v, store %v", two["previous_response_id"], two["store"])
	}
	st.responses(fmt.Sprintf(`"input":"the third","stream":false,"previous_response_id":%q`, two["id"]))
	text := prompt()
	at := -1
	for _, want := range []string{"the first question", "word", "the second", "word", "the third"} {
		i := strings.Index(text[at+1:], want)
		if i < 0 {
			t.Fatalf("no %q after byte %d of %s", want, at, text)
		}
		at += 1 + i
	}
	if strings.Contains(text, "be brief") {
		t.Error("instructions of an earlier response are carried over")
	}
}

// TestPreviousOfStream: a stream's end comes after its response is kept, so a
// client may go on at once; also with the ledger closed, which it is told.
func TestPreviousOfStream(t *testing.T) {
	st, prompt := reading(t)
	for _, dead := range []bool{false, true} {
		if dead {
			st.l.Close()
		}
		a := ask(t, "POST", st.url+"/v1/responses", `{"model":"sim","stream":true,"input":"remember me"}`)
		if warned := strings.Contains(a.header.Get(warnHeader), "until dyn restarts"); warned != dead {
			t.Errorf("ledger dead %v: warning %q", dead, a.header.Get(warnHeader))
		}
		events := data(a.body)
		id := str(dig(doc(t, events[len(events)-1]), "response", "id"))
		st.responses(fmt.Sprintf(`"input":"go on","previous_response_id":%q`, id))
		if text := prompt(); !strings.Contains(text, "remember me") {
			t.Errorf("ledger dead %v: %s", dead, text)
		}
	}
	if n := st.s.count.unkept.Load(); n != 2 {
		t.Errorf("%d unkept responses are counted, want 2", n)
	}
}

// TestPreviousAfterRestart: what the ledger holds is found by the next
// daemon.
func TestPreviousAfterRestart(t *testing.T) {
	st, _ := reading(t)
	id := str(st.responses(`"input":"before the restart"`)["id"])
	next := New(Options{Ledger: st.l, Store: st.l.Responses()})
	c := &call{}
	line, err := next.line(c, id)
	if err != nil || len(line) != 1 || !strings.Contains(string(line[0].Input), "before the restart") {
		t.Errorf("%v %v", line, err)
	}
}

// TestStoredBelongsToItsKey: another key's response is not there, by any
// route.
func TestStoredBelongsToItsKey(t *testing.T) {
	st, _ := reading(t)
	st.s.SetKeys([]turn.Key{key("alice", "a"), key("bob", "b")})
	id := str(st.responses(`"input":"private"`, "x-api-key", "a")["id"])
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/v1/responses", fmt.Sprintf(`{"model":"sim","input":"x","previous_response_id":%q}`, id), 400, "Previous response with id '" + id + "' not found."},
		{"GET", "/v1/responses/" + id, "", 404, "Response with id '" + id + "' not found."},
		{"GET", "/v1/responses/" + id + "/input_items", "", 404, "not found"},
		{"DELETE", "/v1/responses/" + id, "", 404, "not found"},
	} {
		a := ask(t, c.method, st.url+c.path, c.body, "x-api-key", "b")
		if a.status != c.status || !strings.Contains(a.body, c.says) || strings.Contains(a.body, "private") {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	if a := ask(t, "GET", st.url+"/v1/responses/"+id, "", "x-api-key", "a"); a.status != 200 || str(doc(t, a.body)["id"]) != id {
		t.Errorf("its own key: %d %s", a.status, a.body)
	}
}

// TestNoInputIsNoInput: input of a wrong type is refused, whether the body
// goes on from something or not.
func TestNoInputIsNoInput(t *testing.T) {
	st, _ := reading(t)
	for _, path := range []string{"/v1/responses", "/v1/responses/input_tokens"} {
		for _, input := range []string{"true", "5", `{"role":"user","content":"x"}`} {
			for _, previous := range []string{"", `,"previous_response_id":null`, `,"previous_response_id":"resp_x"`} {
				a := ask(t, "POST", st.url+path, `{"model":"sim","input":`+input+previous+`}`)
				if a.status != 400 || !strings.Contains(a.body, `"param":"input"`) {
					t.Errorf("%s %s %s: %d %s", path, input, previous, a.status, a.body)
				}
			}
		}
	}
}

func TestStoredIsReadListedAndDropped(t *testing.T) {
	st, _ := reading(t)
	id := str(st.responses(`"input":[{"role":"user","content":"a","id":"m1"},{"role":"user","content":"b","id":"m2"},{"role":"user","content":"c","id":"m3"}]`)["id"])
	for query, want := range map[string]string{"": "c b a", "?order=asc": "a b c", "?order=asc&limit=2": "a b +", "?order=asc&after=m1": "b c", "?after=m3&limit=1": "b +"} {
		d := doc(t, ask(t, "GET", st.url+"/v1/responses/"+id+"/input_items"+query, "").body)
		var got []string
		list, _ := d["data"].([]any)
		for _, e := range list {
			got = append(got, str(dig(e, "content")))
		}
		if d["has_more"] == true {
			got = append(got, "+")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	for _, odd := range []string{"/input_items?limit=0", "/input_items?limit=x", "/input_items?order=up", "/input_items?after=m9", "?stream=true"} {
		if a := ask(t, "GET", st.url+"/v1/responses/"+id+odd, ""); a.status != 400 || !strings.Contains(a.body, `"param":"`+strings.FieldsFunc(odd, func(r rune) bool { return r == '?' || r == '=' })[strings.Count(odd, "/")]+`"`) {
			t.Errorf("%s: %d %s", odd, a.status, a.body)
		}
	}
	if a := ask(t, "DELETE", st.url+"/v1/responses/"+id, ""); a.status != 200 || doc(t, a.body)["deleted"] != true {
		t.Errorf("delete: %d %s", a.status, a.body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if a := st.known(method, "/v1/responses/"+id); a.status != 404 {
			t.Errorf("%s afterwards: %d %s", method, a.status, a.body)
		}
	}
	if id := str(st.responses(`"input":"x","store":false`)["id"]); st.known("GET", "/v1/responses/"+id).status != 404 {
		t.Error("store false was kept")
	}
}

// known asks until the ledger's file answers: one that is just being made, or
// on a slow disk, is a 503.
func (st *stage) known(method, path string) (a answer) {
	st.until("the ledger is read", func() bool {
		a = ask(st.t, method, st.url+path, "")
		return a.status != 503
	})
	return a
}

// TestExpired: a response past its time is not there.
func TestExpired(t *testing.T) {
	st, _ := reading(t)
	st.s.shelf.Keep(turn.Stored{ID: "resp_old", Document: []byte(`{"id":"resp_old","output":[]}`), Input: []byte("[]"), Expires: time.Now().Add(-time.Second)})
	a := ask(t, "POST", st.url+"/v1/responses", `{"model":"sim","input":"x","previous_response_id":"resp_old"}`)
	if a.status != 400 || str(dig(doc(t, a.body), "error", "code")) != "previous_response_not_found" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestItemReference: a reference to an item that was answered is that item.
func TestItemReference(t *testing.T) {
	st, prompt := reading(t)
	one := st.responses(`"input":"the question"`)
	item := str(dig(one, "output", 0, "id"))
	refer := fmt.Sprintf(`{"type":"item_reference","id":%q}`, item)
	for name, body := range map[string]string{
		"alone":                  `"input":[{"role":"user","content":"the question"},` + refer + `,{"role":"user","content":"and then"}]`,
		"already there":          fmt.Sprintf(`"previous_response_id":%q,"input":[%s,{"role":"user","content":"and then"}]`, one["id"], refer),
		"there twice, and again": fmt.Sprintf(`"previous_response_id":%q,"input":[%s,%s,{"role":"user","content":"and then"}]`, one["id"], refer, refer),
	} {
		st.responses(body)
		if text := prompt(); strings.Count(text, "word") != 1 || strings.Index(text, "the question") > strings.Index(text, "word") || !strings.Contains(text, "and then") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, id := range []string{"msg_0", "msg_t0123456789abcdef_0", item + "0", ""} {
		body := fmt.Sprintf(`{"model":"sim","input":[{"role":"user","content":"x"},{"type":"item_reference","id":%q}]}`, id)
		var a answer
		st.until("the ledger is read", func() bool { a = ask(t, "POST", st.url+"/v1/responses", body); return a.status != 503 })
		if a.status != 404 || !strings.Contains(a.body, "not found") {
			t.Errorf("%q: %d %s", id, a.status, a.body)
		}
	}
}

// TestReferencesOfALargeBody: how long it takes to follow references grows
// with the body, not with its square; were it so, this would not end.
func TestReferencesOfALargeBody(t *testing.T) {
	st := newStage(t)
	const n = 150_000
	var before, own [][]byte
	for i := range n {
		before = append(before, fmt.Appendf(nil, `{"id":"msg_%d"}`, i))
		own = append(own, fmt.Appendf(nil, `{"type":"item_reference","id":"msg_%d"}`, n-1-i))
	}
	all, err := st.s.referred(&call{}, before, own, 0)
	if err != nil || len(all) != n {
		t.Errorf("%d items, %v; want %d", len(all), err, n)
	}
}

// lookups is a shelf that counts what is looked up.
type lookups struct {
	Shelf
	asked int
}

func (c *lookups) Stored(ctx context.Context, id string) (turn.Stored, bool, error) {
	c.asked++
	return c.Shelf.Stored(ctx, id)
}

// TestLongLine: of a line that is too large no more is read than is needed to
// know it.
func TestLongLine(t *testing.T) {
	st, _ := reading(t)
	id := ""
	for range 8 {
		previous := ""
		if id != "" {
			previous = fmt.Sprintf(`,"previous_response_id":%q`, id)
		}
		id = str(st.responses(`"input":` + quote(words(40)) + previous)["id"])
	}
	shelf := &lookups{Shelf: st.l.Responses()}
	next := New(Options{Ledger: st.l, Store: shelf, MaxBody: 1000})
	_, err := next.line(&call{}, id)
	if p := next.explain(err); p.Kind != dialect.TooLarge || shelf.asked > 3 {
		t.Errorf("%v after %d look-ups", err, shelf.asked)
	}
}

// TestReferencesToTooMuch: what is referred to counts as if it had been sent.
func TestReferencesToTooMuch(t *testing.T) {
	st, _ := reading(t)
	item := str(dig(st.responses(`"input":"hi"`), "output", 0, "id"))
	next := New(Options{Ledger: st.l, Store: st.l.Responses(), MaxBody: 1000})
	_, err := next.referred(&call{}, nil, [][]byte{fmt.Appendf(nil, `{"type":"item_reference","id":%q}`, item)}, 990)
	if p := next.explain(err); p.Kind != dialect.TooLarge {
		t.Errorf("%v", err)
	}
}
