package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/sim"
	simmodel "github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// rig is a server over real simulated engines, in one process.
type rig struct {
	t      *testing.T
	url    string
	s      *Server
	fleet  *engine.Fleet
	ledger *ledger.Ledger
	path   string   // of the ledger
	sims   []string // URLs of the engines
	halt   []context.CancelFunc
}

// newRig starts n engines with the given flags and a server over them.
func newRig(t *testing.T, n int, flags ...string) *rig {
	return newRigWith(t, Options{}, n, flags...)
}

func newRigWith(t *testing.T, o Options, n int, flags ...string) *rig {
	t.Helper()
	return newRigOf(t, o, Model{ID: "sim", Prompt: simModel(t), Parser: hermes}, n, flags...)
}

// newRigOf starts engines that serve a model.
func newRigOf(t *testing.T, o Options, m Model, n int, flags ...string) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "ledger.db")}
	r.ledger = ledger.Open(r.path, ledger.Options{})
	o.Ledger = r.ledger
	r.s = New(o)
	r.fleet = engine.NewFleet(engine.Options{
		Logs: t.TempDir(), Adapters: r.adapters(), Poll: 50 * time.Millisecond,
		OnChange: func(w *engine.Worker) { r.s.Update(seats{w, slots(flags)}) }, OnKV: r.s.KV,
	})
	r.s.AddModel(m)
	for i := range n {
		r.start(i, flags...)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + ln.Addr().String()
	go r.s.Serve(ln, r.url)
	t.Cleanup(r.close)
	return r
}

// adapters are what a fleet of the rig can drive.
func (r *rig) adapters() []engine.Adapter { return []engine.Adapter{vllm.Adapter{}} }

// seats is a worker whose slots are known, as they are of workers that dyn
// launched.
type seats struct {
	*engine.Worker
	slots int
}

func (w seats) Info() turn.WorkerInfo {
	info := w.Worker.Info()
	info.Caps.MaxSeqs = w.slots
	return info
}

// slots reads the number of slots from an engine's flags.
func slots(flags []string) int {
	for _, f := range flags {
		if n, ok := strings.CutPrefix(f, "--max-num-seqs="); ok {
			k, _ := strconv.Atoi(n)
			return k
		}
	}
	return 0
}

func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r.s.Shutdown(ctx)
	r.fleet.Stop(ctx, 0)
	for _, halt := range r.halt {
		halt()
	}
	r.ledger.Close()
}

// simModel opens the simulated engine's own model.
func simModel(t testing.TB) *prompt.Model {
	t.Helper()
	m, err := prompt.OpenFS(simmodel.FS(), prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// start runs one engine and attaches it.
func (r *rig) start(i int, flags ...string) {
	r.t.Helper()
	ctx, halt := context.WithCancel(context.Background())
	r.halt = append(r.halt, halt)
	pr, pw := io.Pipe()
	args := append([]string{
		"--port", "0", "--served-model-name", "sim", "--speed", "0",
		"--kv-events-config", `{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:0","replay_endpoint":"tcp://*:0","topic":"kv"}`,
	}, flags...)
	go func() {
		err := sim.Run(ctx, args, pw, io.Discard)
		pw.CloseWithError(err)
	}()
	line, err := bufio.NewReader(pr).ReadString('\n')
	if err != nil {
		r.t.Fatalf("engine %d: %v", i, err)
	}
	go io.Copy(io.Discard, pr)
	url := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	r.sims = append(r.sims, url)
	if _, err := r.fleet.Attach(r.t.Context(), turn.Attach{URL: url}); err != nil {
		r.t.Fatalf("attach %s: %v", url, err)
	}
}

// post sends a body and returns status and body of the answer.
func (r *rig) post(path, body string, headers ...string) (int, string) {
	r.t.Helper()
	resp := r.send(r.t.Context(), path, body, headers...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("%s: %v", path, err)
	}
	return resp.StatusCode, string(b)
}

func (r *rig) send(ctx context.Context, path, body string, headers ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatalf("%s: %v", path, err)
	}
	return resp
}

// until waits for a condition; it fails the test when it does not come true.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-limit:
			r.t.Fatalf("%s: not within a minute", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// rows reads the ledger's turns, the oldest first, once n of them have ended.
func (r *rig) rows(n int) []ledger.Turn {
	r.t.Helper()
	var rows []ledger.Turn
	r.until(fmt.Sprintf("%d turns in the ledger", n), func() bool {
		rd, err := ledger.OpenReader(r.path)
		if err != nil {
			return false
		}
		defer rd.Close()
		all, err := rd.Turns(r.t.Context(), ledger.Query{})
		if err != nil {
			return false
		}
		rows = rows[:0]
		for _, row := range all {
			if row.Outcome != "" {
				rows = append(rows, row)
			}
		}
		return len(rows) >= n
	})
	if len(rows) > 1 && rows[0].At.After(rows[1].At) {
		for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
			rows[i], rows[j] = rows[j], rows[i]
		}
	}
	return rows
}

// doc decodes a JSON document.
func doc(t *testing.T, s string) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%v in %.200s", err, s)
	}
	return m
}

// get asks for a document.
func (r *rig) get(path string, headers ...string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), "GET", r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// hermes is the parser of the simulated model's answers.
var hermes = func() *parsers.Format {
	f, err := parsers.Builtin().Format("hermes", "think")
	if err != nil {
		panic(err)
	}
	return f
}()
