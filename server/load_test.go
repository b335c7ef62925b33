package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
)

// TestStreamsAreWhole: 64 streams at once, each must be its script, in order.
func TestStreamsAreWhole(t *testing.T) {
	var rules, want strings.Builder
	for i := range 400 {
		fmt.Fprintf(&want, "%d ", i)
	}
	fmt.Fprintf(&rules, "  - say: %q\n", want.String())
	r := newRig(t, 2, brainFile(t, rules.String()))
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			status, body := r.post("/v1/chat/completions", fmt.Sprintf(`{"model":"sim","stream":true,"messages":[{"role":"user","content":"stream %d"}]}`, i))
			if got := joined(t, body); status != 200 || got != want.String() {
				t.Errorf("stream %d: status %d, %d bytes, want %d", i, status, len(got), want.Len())
			}
		})
	}
	wg.Wait()
}

// joined is the text of a chat stream.
func joined(t *testing.T, body string) string {
	t.Helper()
	var text strings.Builder
	for line := range strings.SplitSeq(body, "\n") {
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			continue
		}
		var chunk map[string]any
		if err := json.Unmarshal([]byte("{"+data), &chunk); err != nil {
			t.Errorf("%v in %s", err, line)
		}
		text.WriteString(str(dig(chunk, "choices", 0, "delta", "content")))
	}
	return text.String()
}

// TestSlowReaders: clients that stop reading hold back their turns, not the
// server's memory, and others are served.
func TestSlowReaders(t *testing.T) {
	r := newRig(t, 1, brainFile(t, "  - when: 'long'\n    say: "+strings.Repeat("tick tock ", 50_000)+"\n"))
	before := heap()
	var conns []net.Conn
	for range 4 {
		conn := r.dial(t)
		defer conn.Close()
		conn.(*net.TCPConn).SetReadBuffer(4096)
		body := `{"model":"sim","stream":true,"messages":[{"role":"user","content":"long"}]}`
		fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		conns = append(conns, conn)
	}
	r.until("all stream and are stuck", func() bool {
		p := r.s.Snapshot()
		return p.Workers[0].InFlight == 4 && p.Queue.Depth == 0
	})
	for range 20 {
		if status, body := r.post("/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":"short"}]}`); status != 200 {
			t.Fatalf("another client: %d %s", status, body)
		}
	}
	// What is garbage may take some collections to go; what is held stays.
	r.until("little memory is held", func() bool { return int64(heap())-int64(before) <= 8<<20 })
	for _, conn := range conns {
		conn.Close()
	}
	r.until("all have landed", func() bool { return len(r.aloft()) == 0 })
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLedgerFails: a ledger that cannot be written loses rows, counts them,
// and no turn fails.
func TestLedgerFails(t *testing.T) {
	r := newRig(t, 1)
	blocked := filepath.Join(t.TempDir(), "not-a-folder")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := ledger.Open(filepath.Join(blocked, "ledger.db"), ledger.Options{Rows: 4, Batch: 1})
	t.Cleanup(func() { l.Close() }) // before its folder is removed
	r.s.ledger = l
	for range 8 {
		if status, body := r.post("/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":"hi"}]}`); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	r.until("the loss is counted and shown", func() bool {
		l := r.s.Snapshot().Ledger
		return !l.OK && l.Lost > 0 && l.Why != ""
	})
}

// TestAttachLearns: what an engine held before it was attached is known.
func TestAttachLearns(t *testing.T) {
	r := newRig(t, 1)
	body := `{"model":"sim","messages":[{"role":"user","content":` + quote(words(200)) + `}]}`
	r.post("/v1/chat/completions", body)
	// A second server that never saw the turn attaches the same engine.
	other := &rig{t: t, path: filepath.Join(t.TempDir(), "ledger.db")}
	other.ledger = ledger.Open(other.path, ledger.Options{})
	other.s = New(Options{Ledger: other.ledger})
	other.s.AddModel(Model{ID: "sim", Prompt: simModel(t), Parser: hermes})
	other.fleet = engine.NewFleet(engine.Options{
		Logs: t.TempDir(), Adapters: r.adapters(), OnChange: func(w *engine.Worker) { other.s.Update(w) }, OnKV: other.s.KV,
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other.url = "http://" + ln.Addr().String()
	go other.s.Serve(ln, other.url)
	t.Cleanup(other.close)
	if _, err := other.fleet.Attach(t.Context(), turn.Attach{URL: r.sims[0]}); err != nil {
		t.Fatal(err)
	}
	if status, got := other.post("/v1/chat/completions", body); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	if row := other.rows(1)[0]; row.Overlap == 0 || row.Overlap != row.Cached {
		t.Errorf("overlap %d, cached %d: want equal and more than nothing", row.Overlap, row.Cached)
	}
}

// TestBands: a turn of a higher band, then an earlier effective arrival, goes
// first when a slot is free.
func TestBands(t *testing.T) {
	one := caps(1000)
	one.MaxSeqs = 1
	var mu sync.Mutex
	var order []string // as they came to the worker
	st := newStage(t, &puppet{name: "w0", caps: one, play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		text := string(simModel(t).Tokenizer().Decode(nil, j.Prompt.Flat()))
		for _, name := range []string{"first", "plain", "urgent", "strict"} {
			if strings.Contains(text, name) {
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
			}
		}
		if strings.Contains(text, "first") {
			return &script{ctx: ctx}, nil
		}
		return aWord(ctx, j)
	}})
	hold, release := context.WithCancel(t.Context())
	defer release()
	go st.post(hold, chatPath, says("first", ""))
	st.until("the slot is taken", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	var over sync.WaitGroup
	for i, c := range []struct{ name, hints string }{
		{"plain", `{}`}, {"urgent", `{"agent_hints":{"priority":50}}`}, {"strict", `{"agent_hints":{"strict_priority":1}}`},
	} {
		over.Go(func() { st.post(t.Context(), chatPath, says(c.name, `,"nvext":`+c.hints)) })
		st.until("the turn waits", func() bool { return st.s.draw(st.s.started).Queue.Waiting == i+1 })
	}
	q := st.s.draw(st.s.started).Queue
	if len(q.Bands) != 2 || q.Bands[0].Strict != 1 || q.Depth != 4 {
		t.Errorf("queue %+v", q)
	}
	release()
	over.Wait()
	if want := []string{"first", "strict", "urgent", "plain"}; !slices.Equal(order, want) {
		t.Errorf("turns went as %v, want %v", order, want)
	}
}

// TestPings: a quiet turn gives signs of life in each dialect.
func TestPings(t *testing.T) {
	r := newRigWith(t, Options{PingEvery: 1}, 1, brainFile(t, stallBrain))
	for path, c := range map[string]struct{ body, sign string }{
		"/v1/messages":         {`{"model":"sim","stream":true,"max_tokens":5,"messages":[{"role":"user","content":"stall at once"}]}`, "event: ping"},
		"/v1/responses":        {`{"model":"sim","stream":true,"input":"stall at once"}`, "response.in_progress"},
		"/v1/chat/completions": {`{"model":"sim","stream":true,"messages":[{"role":"user","content":"stall at once"}]}`, ":"},
	} {
		ctx, hangUp := context.WithCancel(t.Context())
		resp := r.send(ctx, path, c.body)
		lines, n := bufio.NewReader(resp.Body), 0
		for n < 3 {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %v after %d signs", path, err, n)
			}
			if strings.Contains(line, c.sign) {
				n++
			}
		}
		hangUp()
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// TestKeptConnection: the time that a stream's client had to read does not
// run on when the connection is used again.
func TestKeptConnection(t *testing.T) {
	r := newRig(t, 1)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan *timed, 1)
	go r.s.http.Serve(timedListener{Listener: ln, endless: new(atomic.Int32), conns: conns})
	r.url = "http://" + ln.Addr().String()
	conn := r.dial(t)
	defer conn.Close()
	in := bufio.NewReader(conn)
	ask := func(head string) {
		t.Helper()
		fmt.Fprint(conn, head)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err = io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	body := says("hi", `,"stream":true`)
	ask(fmt.Sprintf("POST "+chatPath+" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	its := <-conns
	for range 2 {
		before := its.wrote.Load()
		if ask("GET /live HTTP/1.1\r\nHost: x\r\n\r\n"); before == nil || !its.wrote.Load().After(*before) {
			t.Errorf("an answer was written until %v, and the next until %v", before, its.wrote.Load())
		}
	}
}

// TestStuckReader: a client that takes nothing for too long is gone.
func TestStuckReader(t *testing.T) {
	r := newRigWith(t, Options{Patience: 200 * time.Millisecond}, 1, brainFile(t, "  - say: "+strings.Repeat("tick tock ", 300_000)+"\n"))
	conn := r.dial(t)
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(4096)
	body := `{"model":"sim","stream":true,"messages":[{"role":"user","content":"long"}]}`
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r.until("it was given up", func() bool { return r.s.count.canceled.Load() == 1 })
	r.until("the engine is idle", func() bool { return r.s.Snapshot().Workers[0].Running == 0 })
}
