package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
)

// leasing is a messages body of a session, with so many words of system prompt,
// that asks for leases on it and on its last message.
func leasing(session, ttl, more string, words int, said ...string) string {
	control := ""
	if ttl != "" {
		control = fmt.Sprintf(`,"cache_control":{"type":"ephemeral","ttl":%q}`, ttl)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"sim","max_tokens":8,"metadata":{"user_id":"{\"session_id\":\"%s\"}"},"system":[{"type":"text","text":"%s"%s}],"messages":[`,
		session, strings.Repeat(session+" word ", words), control)
	for i, text := range said {
		role, c := []string{"user", "assistant"}[i%2], ""
		if i == len(said)-1 {
			c = control
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":%q,"content":[{"type":"text","text":%q%s}]}`, role, text, c)
	}
	return b.String() + "]" + more + "}"
}

// states are the leases as the snapshot has them: who, state.
func (r *rig) leaseStates() (out []string) {
	for _, l := range r.s.Snapshot().Leases.Live {
		out = append(out, l.Session+" "+l.State)
	}
	slices.Sort(out)
	return out
}

// A lease answers: what is asked is told in a header and, where the body asks,
// in nvext; on the next turn what the engine reports makes it kept; what a flood
// evicts is lost, and says so. Metrics, snapshot and ledger have it too.
func TestLeasesAnswer(t *testing.T) {
	r := newRig(t, 1, "--kv-tokens=4000")
	first := r.say(leasing("one", "1h", "", 60, "hello"))
	if h := first.header.Get(leaseHeader); strings.Count(h, "asked ") != 2 || strings.Contains(first.body, "nvext") {
		t.Fatalf("%q %s", h, first.body)
	}
	answer := gjson.Get(first.body, "content.0.text").Str
	second := r.say(leasing("one", "1h", `,"nvext":{"extra_fields":["leases"]}`, 60, "hello", answer, "go on"))
	if h := second.header.Get(leaseHeader); strings.Count(h, "kept ") != 2 {
		t.Errorf("header %q", h)
	}
	leases := gjson.Get(second.body, "nvext.leases")
	if n := leases.Get("#").Int(); n != 2 || leases.Get("1.state").Str != "kept" || leases.Get("1.why").Str != "its engine had all of it" ||
		leases.Get("1.held_tokens").Int() != leases.Get("1.tokens").Int() || leases.Get("1.ttl_s").Int() != 3600 {
		t.Errorf("nvext: %s", leases.Raw)
	}
	for i := range 6 {
		r.say(leasing(fmt.Sprint("flood", i), "", "", 250, "hello"))
	}
	third := r.say(leasing("one", "1h", "", 60, "hello", answer, "go on", "well", "and on"))
	if h := third.header.Get(leaseHeader); !strings.Contains(h, "lost ") {
		t.Errorf("after the flood: %q", h)
	}
	if s := r.s.Snapshot().Leases; s.Asked != 6 || s.Kept < 2 || s.Lost < 1 || len(s.Budgets) != 1 || s.Budgets[0].Budget != 1200 || s.Budgets[0].Tokens <= 0 {
		t.Errorf("snapshot: %+v", s)
	}
	if page := ask(t, "GET", r.url+"/metrics", "").body; !strings.Contains(page, "dyn_leases_asked_total 6\n") || !strings.Contains(page, "dyn_worker_leased_tokens{") {
		t.Errorf("metrics: %s", page)
	}
	r.rows(9)
	seen := map[string]bool{}
	for _, l := range r.leaseRows() {
		seen[l.State] = true
		if l.Worker != "a0" || l.Session != "one" || l.Ends.IsZero() {
			t.Errorf("ledger: %+v", l)
		}
	}
	if !seen["asked"] || !seen["kept"] || !seen["lost"] {
		t.Errorf("ledger: %v", seen)
	}
}

// say posts a messages turn.
func (r *rig) say(body string) answer {
	r.t.Helper()
	a := ask(r.t, "POST", r.url+"/v1/messages", body)
	if a.status != 200 {
		r.t.Fatalf("%d %s", a.status, a.body)
	}
	return a
}

// leaseRows reads the ledger's leases.
func (r *rig) leaseRows() []ledger.Lease {
	r.t.Helper()
	rd, err := ledger.OpenReader(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rd.Close()
	rows, err := rd.Leases(r.t.Context(), ledger.Query{})
	if err != nil {
		r.t.Fatal(err)
	}
	return rows
}

// A stream has the header too, and its last event nvext.
func TestLeasesAnswerInStreams(t *testing.T) {
	r := newRig(t, 1)
	a := r.say(leasing("one", "5m", `,"stream":true,"nvext":{"cache_control":{"type":"ephemeral","ttl":"10m"}}`, 60, "hello"))
	if h := a.header.Get(leaseHeader); strings.Count(h, "asked ") < 2 {
		t.Errorf("header %q", h)
	}
	x := extraOf(t, a.body, true)
	if list, _ := dig(x, "leases").([]any); len(list) < 2 || str(dig(list[0], "state")) != "asked" {
		t.Errorf("nvext: %v", x)
	}
}

// What does not fit the budget is cut, and what gave way says for whom.
func TestLeasesWithinTheBudget(t *testing.T) {
	r := newRig(t, 1, "--kv-tokens=4000")
	r.say(leasing("one", "1h", "", 150, "hello"))
	a := r.say(leasing("two", "1h", "", 700, "hello"))
	if h := a.header.Get(leaseHeader); !strings.Contains(h, "cut ") {
		t.Errorf("header %q", h)
	}
	for _, l := range r.s.Snapshot().Leases.Live {
		switch {
		case l.Session == "one" && (l.State != "gave way" || !strings.Contains(l.Why, "two")):
			t.Errorf("%+v", l)
		case l.Session == "two" && l.State == "cut" && !strings.Contains(l.Why, "30%"):
			t.Errorf("%+v", l)
		}
	}
	if s := r.s.Snapshot().Leases; s.GaveWay == 0 || s.Cut == 0 || s.Budgets[0].Tokens > s.Budgets[0].Budget {
		t.Errorf("%+v", s)
	}
}

// The last turn of a session lets go of its leases, and so does who forgets it.
func TestLeasesEndWithTheirSession(t *testing.T) {
	r := newRig(t, 1)
	r.say(leasing("one", "1h", "", 60, "hello"))
	r.say(leasing("two", "1h", "", 60, "hello"))
	last := leasing("one", "", `,"nvext":{"agent_hints":{"session_final":true}}`, 60, "hello", "hi", "bye")
	r.say(strings.Replace(last, `"max_tokens":8`, `"max_tokens":512`, 1))
	r.until("one let go", func() bool { return fmt.Sprint(r.leaseStates()) == "[two asked two asked]" })
	r.s.lineEnded("two", "", "forgotten")
	r.until("two let go", func() bool { return len(r.leaseStates()) == 0 })
}

// Leases live on in the next daemon, with what is left of their time.
func TestLeasesOutliveTheDaemon(t *testing.T) {
	r := newRig(t, 1)
	r.say(leasing("one", "1h", "", 60, "hello"))
	r.rows(1)
	rd, err := ledger.OpenReader(r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	rows, err := rd.LastLeases(t.Context(), time.Now().Add(-time.Hour), 100)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v %v", rows, err)
	}
	next := newRig(t, 1)
	if n := next.s.Recollect(rows); n != 2 {
		t.Fatalf("%d leases", n)
	}
	for _, l := range next.s.Snapshot().Leases.Live {
		if l.Session != "one" || l.LeftS > 3600 || l.LeftS < 3000 || l.State != "asked" || l.Held != l.Tokens {
			t.Errorf("%+v", l)
		}
	}
	a := next.say(leasing("one", "1h", "", 60, "hello")) // another engine, which has nothing
	if h := a.header.Get(leaseHeader); !strings.Contains(h, "lost") {
		t.Errorf("header %q", h)
	}
}

// A key sees and ends its own leases, and no others.
func TestLeasesOfKeys(t *testing.T) {
	r := newRig(t, 1)
	r.s.SetKeys([]turn.Key{key("alice", "alice"), key("bob", "bob")})
	for _, who := range []string{"alice", "bob"} {
		a := ask(t, "POST", r.url+"/v1/messages", leasing("s", "1h", "", 60, who), "x-api-key", who)
		if a.status != 200 {
			t.Fatal(a.body)
		}
	}
	list := func(who, query string) gjson.Result {
		return gjson.Get(ask(t, "GET", r.url+"/v1/leases"+query, "", "x-api-key", who).body, "leases")
	}
	hers := list("alice", "?session=s")
	if hers.Get("#").Int() != 2 || hers.Get("0.session").Str != "alice/s" || list("bob", "").Get("#").Int() != 2 {
		t.Fatalf("alice: %s, bob: %s", hers.Raw, list("bob", "").Raw)
	}
	id := hers.Get("0.id").Str
	for _, c := range []struct {
		who, method, path, body string
		status                  int
	}{
		{"bob", "DELETE", "/v1/leases/" + id, "", 404},
		{"alice", "DELETE", "/v1/leases/" + id, "", 200},
		{"alice", "DELETE", "/v1/leases/" + id, "", 404},
		{"alice", "DELETE", "/v1/leases/s", "", 200},
		{"alice", "POST", "/v1/leases", `{"session":"s","ttl":"30m"}`, 200},
		{"alice", "POST", "/v1/leases", `{"session":"s","ttl":"soon"}`, 400},
		{"alice", "POST", "/v1/leases", `{"ttl":"30m"}`, 400},
		{"alice", "POST", "/v1/leases", `[]`, 400},
		{"alice", "POST", "/v1/leases", `{"session":"nobody"}`, 404},
		{"bob", "POST", "/v1/leases", `{"session":"alice/s"}`, 404},
		{"", "GET", "/v1/leases", "", 401},
	} {
		if a := ask(t, c.method, r.url+c.path, c.body, "x-api-key", c.who); a.status != c.status {
			t.Errorf("%+v: %d %s", c, a.status, a.body)
		}
	}
	if l := list("alice", ""); l.Get("#").Int() != 1 || l.Get("0.source").Str != "pin" || l.Get("0.ttl_s").Int() != 1800 {
		t.Errorf("alice's pin: %s", l.Raw)
	}
	if n := list("bob", "").Get("#").Int(); n != 2 {
		t.Errorf("bob has %d", n)
	}
}

// A pin makes a session's turns lease their whole prompt, though they ask for
// nothing, until it is taken back; the control socket does it for anybody's.
func TestPinsOverTheControlSocket(t *testing.T) {
	st, _ := reading(t)
	ctl := st.control()
	turnOf := func(said ...string) answer {
		return ask(t, "POST", st.url+"/v1/messages", leasing("mine", "", "", 60, said...))
	}
	if a := turnOf("hello"); a.status != 200 || a.header.Get(leaseHeader) != "" {
		t.Fatalf("%d %q %s", a.status, a.header.Get(leaseHeader), a.body)
	}
	a := ask(t, "POST", ctl+"/leases", `{"session":"mine","ttl":"1h"}`)
	if a.status != 200 || gjson.Get(a.body, "source").Str != "pin" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := turnOf("hello", "hi", "go on"); a.header.Get(leaseHeader) == "" {
		t.Errorf("pinned: %q", a.header.Get(leaseHeader))
	}
	var doc leaseList
	if err := json.Unmarshal([]byte(ask(t, "GET", ctl+"/leases?session=mine", "").body), &doc); err != nil || len(doc.Leases) != 1 {
		t.Fatalf("%+v %v", doc, err)
	}
	for _, status := range []int{200, 404} {
		if a := ask(t, "DELETE", ctl+"/leases/mine", ""); a.status != status {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if a := turnOf("hello", "hi", "go on", "ok", "more"); a.header.Get(leaseHeader) != "" {
		t.Errorf("unpinned: %q", a.header.Get(leaseHeader))
	}
	for _, c := range []struct{ method, path, body string }{{"PUT", "/leases", ""}, {"POST", "/leases", "x"}, {"POST", "/leases", `{"session":"nobody"}`}, {"DELETE", "/leases", ""}} {
		if a := ask(t, c.method, ctl+c.path, c.body); a.status < 400 || a.status >= 500 {
			t.Errorf("%v: %d %s", c, a.status, a.body)
		}
	}
}
