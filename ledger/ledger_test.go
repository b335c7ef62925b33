package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

func TestMain(m *testing.M) {
	if run := childs[os.Getenv("LEDGER_TEST_CHILD")]; run != nil {
		run()
		return
	}
	goleak.VerifyTestMain(m)
}

// noon is when these tests begin: now, since old rows are cut.
var noon = time.Now().UTC().Round(0)

// quick commits soon, so that tests need not wait, and cuts nothing.
var quick = Options{Every: 5 * time.Millisecond, MaxAge: -1, MaxBytes: -1}

// begin opens a ledger in a new folder and closes it with the test.
func begin(t *testing.T, o Options) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	l := Open(path, o)
	t.Cleanup(func() { _ = l.Close() })
	return l, path
}

// look opens a reader and closes it with the test.
func look(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("waited too long: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// turns counts the turns in a file, -1 when it cannot be read.
func turns(path string) int {
	r, err := OpenReader(path)
	if err != nil {
		return -1
	}
	defer r.Close()
	all, err := r.Turns(context.Background(), Query{})
	if err != nil {
		return -1
	}
	return len(all)
}

// turnOf makes the n-th turn.
func turnOf(n int) Turn {
	return Turn{
		ID: fmt.Sprintf("t%016x", n), At: noon.Add(time.Duration(n) * time.Second), Dialect: "messages",
		Harness: "claude-code", Session: "s1", Agent: "main", Kind: "turn", Model: "sim", Stream: true,
		Priority: 3, Strict: -1, Class: "P0", Messages: 4, Tools: 2, MaxTokens: 4096, Worker: "w0",
		Decision: `{"worker":"w0"}`, Overlap: 900, Prompt: 1000, Cached: 896, Output: 50, Thinking: 7,
		QueueMS: 1.5, TTFTMS: 210.25, TotalMS: 900, Moved: 1, Outcome: "end", Error: "none",
		Tenant: "alice", Format: "json_schema", Edited: 2, Flawed: 3, GateMS: 12.5, Chat: "it has images", Break: `{"kind":"clock"}`,
	}
}

func TestRowsComeBack(t *testing.T) {
	l, path := begin(t, quick)
	turn := turnOf(1)
	lease := Lease{
		ID: "l1", At: noon, Turn: turn.ID, Session: "s1", Agent: "main", Model: "sim",
		Tokens: 1024, Blocks: 64, TTLS: 300, State: "cut",
		Tenant: "ci", Worker: "w0", Hash: 1<<63 + 7, Block: 16, Held: 512, Found: -1, Source: "pin", Ends: noon.Add(300 * time.Second), Why: "the budget",
	}
	event := WorkerEvent{At: noon, Worker: "w0", Model: "sim", PID: 7, URL: "http://127.0.0.1:1", Event: "ready", Detail: "x"}
	step := AgentEvent{At: noon, Session: "s1", Agent: "main", Model: "sim", Event: "tool done", Tool: "Bash", MS: 1500, Source: "hook", Detail: "x"}
	l.Turn(turn)
	l.Lease(lease)
	l.Agent(step)
	l.Worker(event)
	until(t, "the file", func() bool { return turns(path) == 1 })
	r, ctx := look(t, path), t.Context()
	until(t, "the last row", func() bool { // which may come a batch after the first
		got, err := r.WorkerEvents(ctx, Query{})
		return err != nil || len(got) > 0
	})
	if got, err := r.Turns(ctx, Query{}); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], turn) {
		t.Errorf("turns = %+v, %v; want %+v", got, err, turn)
	}
	if got, err := r.Leases(ctx, Query{Session: "s1"}); err != nil || len(got) != 1 || got[0] != lease {
		t.Errorf("leases = %+v, %v", got, err)
	}
	if got, err := r.AgentEvents(ctx, Query{Session: "s1"}); err != nil || len(got) != 1 || got[0] != step {
		t.Errorf("agent events = %+v, %v", got, err)
	}
	if got, err := r.LastLeases(ctx, noon, 10); err != nil || len(got) != 1 || got[0] != lease {
		t.Errorf("last leases = %+v, %v", got, err)
	}
	if got, err := r.WorkerEvents(ctx, Query{}); err != nil || len(got) != 1 || got[0] != event {
		t.Errorf("worker events = %+v, %v", got, err)
	}
	if _, err := r.WorkerEvents(ctx, Query{Session: "s1"}); err == nil {
		t.Error("a session has worker events")
	}
	if got := l.Health(); got != (snapshot.Ledger{OK: true}) {
		t.Errorf("health = %+v", got)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", p, info.Mode(), err, want)
		}
	}
}

func TestUpserts(t *testing.T) {
	l, path := begin(t, quick)
	a, b := turnOf(1), turnOf(2)
	b.Agent, b.Parent, b.Harness = "explore", "main", ""
	again := a
	a.Outcome, again.Output = "", 99
	for _, x := range []Turn{b, a, again} {
		l.Turn(x)
	}
	l.Worker(WorkerEvent{At: noon, Worker: "w0", Model: "sim", URL: "u", PID: 1, Event: "starting"})
	l.Worker(WorkerEvent{At: noon.Add(time.Second), Worker: "w0", PID: 2, Event: "ready"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := look(t, path)
	for _, c := range []struct{ query, want string }{
		{"SELECT count(*) || ' ' || max(output_tokens) FROM turns", "2 99"},
		{"SELECT harness || ' ' || (last_at - first_at) FROM sessions", "claude-code 1000000000"},
		{"SELECT group_concat(id || '<' || parent) FROM (SELECT * FROM agents ORDER BY id)", "explore<main,main<"},
		{"SELECT name || model || url || pid || event || count(*) FROM workers", "w0simu2ready1"},
		{"PRAGMA user_version", fmt.Sprint(len(schema()))},
		{"PRAGMA auto_vacuum", "2"},
		{"PRAGMA journal_mode", "wal"},
	} {
		var got string
		if err := r.db.QueryRow(c.query).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s = %q, %v; want %q", c.query, got, err, c.want)
		}
	}
}

// TestHostileRows writes what no column wants.
func TestHostileRows(t *testing.T) {
	l, path := begin(t, quick)
	x := turnOf(1)
	x.TTFTMS, x.QueueMS = math.NaN(), math.Inf(-1)
	x.Session = strings.Repeat("é", 10_000)
	x.Agent = "a\x00b\xff'; DROP TABLE turns; --"
	x.Decision = strings.Repeat("x", 1<<20)
	x.Error = strings.Repeat("e", 1<<20)
	l.Turn(x)
	l.Turn(Turn{})
	until(t, "rows", func() bool { return turns(path) == 2 })
	got, err := look(t, path).Turns(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	if !got[0].At.IsZero() {
		t.Errorf("the zero time came back as %v", got[0].At)
	}
	g := got[1]
	if g.TTFTMS != -1 || g.QueueMS != -1 || len(g.Session) != maxName || g.Agent != "a\x00b\uFFFD'; DROP TABLE turns; --" ||
		g.Decision != `{"omitted_bytes":1048576}` || len(g.Error) != maxText {
		t.Errorf("came back as %.300v", g)
	}
	if h := l.Health(); !h.OK || h.Lost != 0 {
		t.Errorf("health = %+v", h)
	}
}

func TestQueries(t *testing.T) {
	l, path := begin(t, quick)
	for n := range 600 { // more than two batches
		x := turnOf(n)
		x.Session = fmt.Sprintf("s%d", n%2)
		l.Turn(x)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := look(t, path)
	for _, c := range []struct {
		q           Query
		n           int
		first, last int
	}{
		{Query{}, 600, 0, 599},
		{Query{Limit: 10}, 10, 590, 599},
		{Query{Session: "s1", Limit: 3}, 3, 595, 599},
		{Query{Since: turnOf(590).At}, 10, 590, 599},
		{Query{Since: turnOf(590).At, Session: "s0"}, 5, 590, 598},
	} {
		got, err := r.Turns(t.Context(), c.q)
		if err != nil || len(got) != c.n || got[0].ID != turnOf(c.first).ID || got[c.n-1].ID != turnOf(c.last).ID {
			t.Errorf("%+v: %d turns, %v", c.q, len(got), err)
		}
	}
	if got, err := r.Turns(t.Context(), Query{Session: "none"}); err != nil || got == nil || len(got) != 0 {
		t.Errorf("no turns = %v, %v; want an empty list", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Turns(ctx, Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled query: %v", err)
	}
}

func TestStats(t *testing.T) {
	l, path := begin(t, quick)
	add := func(n int, agent string, ttft float64, prompt, cached int, outcome string) {
		x := turnOf(n)
		x.Agent, x.TTFTMS, x.Prompt, x.Cached, x.Outcome = agent, ttft, prompt, cached, outcome
		if n == 99 {
			x.Model = "other"
		}
		l.Turn(x)
	}
	for n := range 100 {
		add(n, "main", float64((n*37)%100+1), 1000, 900, "end") // 1 to 100, mixed
	}
	add(200, "main", -1, 0, 0, "reject")
	add(300, "explore", 50, 500, -1, "end") // an engine that tells no cached tokens
	add(301, "explore", 40, 500, -1, "fail")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := look(t, path).Stats(t.Context(), ByAgent, Query{})
	if err != nil || len(got) != 2 {
		t.Fatalf("stats = %+v, %v", got, err)
	}
	e, m := got[0], got[1]
	if e.Kind != "" || e.Tenant != "" || e.Edited != 4 || e.Flawed != 6 {
		t.Errorf("explore = %+v, want no kind nor tenant, 4 edited and 6 flawed", e)
	}
	if e.Agent != "explore" || e.Hit != nil || *e.P50 != 40 || *e.P95 != 50 || e.Failed != 1 || e.Cached != 0 || e.Prompt != 1000 {
		t.Errorf("explore = %+v", e)
	}
	if m.Turns != 101 || m.Failed != 1 || m.Prompt != 100_000 || m.Cached != 90_000 || m.Output != 5050 ||
		*m.Hit != 0.9 || *m.P50 != 50 || *m.P95 != 95 || m.Model != "sim" || !m.Last.Equal(turnOf(200).At) {
		t.Errorf("main = %+v, hit %v, p50 %v, p95 %v", m, *m.Hit, *m.P50, *m.P95)
	}
}

func TestStatsByKindAndTenant(t *testing.T) {
	l, path := begin(t, quick)
	for n, kind := range []string{"tool", "user", "tool", "title", "tool"} {
		x := turnOf(n)
		x.Kind, x.Agent, x.Tenant = kind, fmt.Sprintf("a%d", n), []string{"alice", "bob"}[n%2]
		x.Edited = max(0, 1-n)
		x.Worker, x.Model = fmt.Sprint("w", n/3), []string{"sim", "tiny"}[n/4]
		x.Prompt, x.Overlap, x.Cached = 1000, 500, 750
		l.Turn(x)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := look(t, path)
	for _, c := range []struct {
		by   By
		want string
	}{
		{ByKind, "tool 3 1, title 1 0, user 1 0, "},
		{ByTenant, "alice 3 1, bob 2 0, "},
		{ByWorker, "w1 1 0, w1 1 0, w0 3 1, "},
		{ByModel, " 1 0,  4 1, "},
	} {
		got, err := r.Stats(t.Context(), c.by, Query{})
		text := ""
		for _, s := range got {
			text += fmt.Sprintf("%s%s%s %d %d, ", s.Kind, s.Tenant, s.Worker, s.Turns, s.Edited)
			if s.Overlap == nil || *s.Overlap != 0.5 || *s.Hit != 0.75 {
				t.Errorf("by %s: overlap %v, hit %v", c.by, s.Overlap, s.Hit)
			}
			if s.Agent != "" || s.Session != "" {
				t.Errorf("by %s: %+v has what its turns do not share", c.by, s)
			}
		}
		if err != nil || text != c.want {
			t.Errorf("by %s: %q, %v; want %q", c.by, text, err, c.want)
		}
	}
	if _, err := r.Stats(t.Context(), "weather", Query{}); err == nil {
		t.Error("summed by the weather")
	}
}

func TestReaderWithoutLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if _, err := OpenReader(path); !errors.Is(err, ErrNone) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReader(path); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("garbage: %v", err)
	}
}

// TestStrangePath uses characters that mean something in a database's URI.
func TestStrangePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%41&e", "led[ger]*.db")
	l := Open(path, quick)
	l.Turn(turnOf(1))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := turns(path); n != 1 {
		t.Errorf("%d turns", n)
	}
	l.Turn(turnOf(2))
	if h := l.Health(); h.OK || h.Lost != 1 {
		t.Errorf("a row after the end: %+v", h)
	}
	if err := l.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}
