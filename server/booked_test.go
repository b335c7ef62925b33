package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// harness is a program that routes itself, with a key.
type harness struct {
	*stage
	secret string
}

// route asks one of /v1/route/….
func (h harness) route(what, body string) answer {
	return ask(h.t, "POST", h.url+"/v1/route/"+what, body, "x-api-key", h.secret)
}

// loads are its turns at each worker: how many, and prompt tokens not computed.
func (h harness) loads() string {
	all := []string{}
	for _, w := range doc(h.t, h.route("loads", "").body)["workers"].([]any) {
		all = append(all, fmt.Sprint(dig(w, "worker_id"), " ", dig(w, "active_requests"), " ", dig(w, "active_prefill_tokens")))
	}
	return strings.Join(all, ", ")
}

// TestBooked: a request with an id counts at its worker until it is freed, its
// own key's only; who asks without, or would have to wait, books nothing.
func TestBooked(t *testing.T) {
	one := caps(4000)
	one.MaxSeqs = 1
	st := newStage(t, &puppet{name: "w1", caps: one, play: aWord})
	st.s.SetKeys([]turn.Key{key("a", "1"), key("b", "2")})
	a, b := harness{st, "1"}, harness{st, "2"}
	if got := a.route("best_worker", `{"prompt":"one two"}`); doc(t, got.body)["booked"] != false || a.loads() != "w1 0 0" {
		t.Errorf("without an id: %s, %s", got.body, a.loads())
	}
	got := doc(t, a.route("best_worker", `{"prompt":"one two","request_id":"r1"}`).body)
	tokens := got["prompt_tokens"]
	if got["booked"] != true || got["booked_s"] != 300.0 || a.loads() != fmt.Sprint("w1 1 ", tokens) || b.loads() != "w1 0 0" {
		t.Errorf("booked: %v, %s; another key is told %s", got, a.loads(), b.loads())
	}
	if got := doc(t, b.route("best_worker", `{"prompt":"one","request_id":"r1"}`).body); got["waits"] != true || got["booked"] != false {
		t.Errorf("the worker is full: %v", got)
	}
	for _, what := range []string{"mark_prefill_complete", "free"} {
		if got := b.route(what, `{"request_id":"r1"}`); got.status != 404 || !strings.Contains(got.body, "nothing is booked as r1") {
			t.Errorf("%s of another key's: %d %s", what, got.status, got.body)
		}
	}
	if got := a.route("mark_prefill_complete", `{"request_id":"r1"}`); got.status != 200 || a.loads() != "w1 1 0" {
		t.Errorf("its first token came: %s %s", got.body, a.loads())
	}
	if got := a.route("free", `{"request_id":"r1","model":"sim"}`); got.status != 200 || a.loads() != "w1 0 0" {
		t.Errorf("freed: %s %s", got.body, a.loads())
	}
	for body, says := range map[string]string{`{"request_id":"r1"}`: "nothing is booked", `{}`: "field required", `{"request_id":"r","model":"no"}`: "does not exist", `{"request_id":1}`: "must be a string"} {
		if got := a.route("free", body); got.status/100 != 4 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if got := a.route("best_worker", `{"prompt":"x","request_id":"`+strings.Repeat("r", 300)+`"}`); got.status != 400 {
		t.Errorf("a long id: %d", got.status)
	}
}

// TestBookingEnds: one of the same id takes its place, nobody frees it, or the
// turn comes that it was booked for.
func TestBookingEnds(t *testing.T) {
	stall := func(ctx context.Context, _ turn.Job) (turn.Stream, error) { return &script{ctx: ctx}, nil }
	st := newStage(t, &puppet{name: "w1", caps: caps(4000), play: stall}, &puppet{name: "w2", caps: caps(4000), play: stall})
	h := harness{st, ""}
	for range 2 {
		h.route("best_worker", `{"prompt":"one two","request_id":"r1","nvext":{"worker":"w2"}}`)
		if !strings.HasPrefix(h.loads(), "w1 0 0, w2 1 ") {
			t.Errorf("booked: %s", h.loads())
		}
	}
	m, err := st.s.only("")
	if err != nil {
		t.Fatal(err)
	}
	book := func() *booking {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.booked[bookKey{"", "r1"}]
	}
	old := book()
	h.route("best_worker", `{"prompt":"one two","request_id":"r1","nvext":{"worker":"w2"}}`)
	if m.lapse(bookKey{"", "r1"}, old); book() == nil {
		t.Error("the time of one that was replaced ended its successor")
	}
	go st.post(t.Context(), chatPath, says("one two", ""), "x-dyn-booking", "r1")
	st.until("the turn is under way", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	if !strings.HasPrefix(h.loads(), "w1 0 0, w2 1 ") || book() != nil {
		t.Errorf("the turn came: %s", h.loads())
	}
	h.route("best_worker", `{"prompt":"one two","request_id":"r1","nvext":{"worker":"w1"}}`)
	if m.lapse(bookKey{"", "r1"}, book()); !strings.HasPrefix(h.loads(), "w1 0 0, w2 1 ") {
		t.Errorf("its time is over: %s", h.loads())
	}
}

// TestBookingsAreLimited: a key's turns at once are limited, booked or not, and
// so are bookings.
func TestBookingsAreLimited(t *testing.T) {
	st := newStage(t, &puppet{name: "w1", caps: caps(4000), play: aWord})
	st.s.SetKeys([]turn.Key{key("a", "1", func(k *turn.Key) { k.Concurrent = 1 }), key("b", "2")})
	a, b := harness{st, "1"}, harness{st, "2"}
	a.route("best_worker", `{"prompt":"one","request_id":"r1"}`)
	if got := a.route("best_worker", `{"prompt":"one","request_id":"r2"}`); got.status != 429 {
		t.Errorf("two at once: %d %s", got.status, got.body)
	}
	a.route("free", `{"request_id":"r1"}`)
	if got := a.route("best_worker", `{"prompt":"one","request_id":"r2"}`); got.status != 200 {
		t.Errorf("after one was freed: %d %s", got.status, got.body)
	}
	m, err := st.s.only("")
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	for i := range mostBooked {
		m.booked[bookKey{"b", fmt.Sprint(i)}] = nil
	}
	m.mu.Unlock()
	if got := b.route("best_worker", `{"prompt":"one","request_id":"r"}`); got.status != 429 || !strings.Contains(got.body, "/v1/route/free ends a booking") {
		t.Errorf("too many: %d %s", got.status, got.body)
	}
}

// TestUpdateIndexer: without an id the worker only counts as holding the prompt.
func TestUpdateIndexer(t *testing.T) {
	st := newStage(t, &puppet{name: "w1", caps: caps(4000), play: aWord})
	h := harness{st, ""}
	body := `{"prompt":` + quote(strings.Repeat("one two ", 100))
	if got := doc(t, h.route("best_worker", body+`,"update_indexer":true}`).body); got["booked"] != false || got["overlap_tokens"] != 0.0 || h.loads() != "w1 0 0" {
		t.Errorf("first: %v, %s", got, h.loads())
	}
	if got := doc(t, h.route("best_worker", body+`}`).body); num(got["overlap_tokens"]) < 100 {
		t.Errorf("then: %v", got)
	}
}
