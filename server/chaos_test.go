package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/engine/sim"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/turn"
)

// chaosFor is how long TestAnything tries; DYN_CHAOS=10m has it try longer.
const chaosFor = 4 * time.Second

// mess is a server over two engines and a puppet, all of which anything may
// happen to.
type mess struct {
	*rig
	odd   *puppet
	mood  atomic.Int32  // of the puppet
	thaw  chan struct{} // lets go of turns that hang there; made anew for each check
	at    []int         // ports of the engines
	alive []context.CancelFunc
	drops []context.CancelFunc // ends of waits for drains

	mu   sync.Mutex
	told map[string]string // turns that ended before their clients, and how
}

// Moods of the puppet.
const (
	obliges = iota
	losesAtOnce
	isBusy
	diesLater
	hangsOn
	hangsLater
	refuses
	moods
)

func newMess(t *testing.T) *mess {
	m := &mess{rig: newRig(t, 0), thaw: make(chan struct{}), told: map[string]string{}}
	for i := range 2 {
		at, err := port.Free()
		if err != nil {
			t.Fatal(err)
		}
		m.at, m.alive, m.drops = append(m.at, at), append(m.alive, nil), append(m.drops, nil)
		m.rise(i)
		r := m.rig
		r.until("the engine is attached", func() bool {
			_, err := r.fleet.Attach(t.Context(), turn.Attach{URL: fmt.Sprint("http://127.0.0.1:", at)})
			return err == nil
		})
	}
	c := caps(4000)
	c.MaxSeqs = 4
	m.odd = &puppet{name: "odd", caps: c, play: m.play}
	if err := m.s.Update(m.odd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for i := range m.at {
			m.fall(i)
		}
	})
	return m
}

// play is what the puppet does with a turn in its present mood.
func (m *mess) play(ctx context.Context, j turn.Job) (turn.Stream, error) {
	switch m.mood.Load() {
	case losesAtOnce:
		return nil, fmt.Errorf("HTTP 500: %w", turn.ErrLost)
	case isBusy:
		return nil, fmt.Errorf("HTTP 503: %w: %w", turn.ErrBusy, turn.ErrLost)
	case diesLater:
		return &dies{script{ctx, []turn.Delta{{Text: " word", IDs: []uint32{300}}}}}, nil
	case hangsOn:
		select {
		case <-m.thaw:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	case hangsLater:
		return &pauses{script{ctx, []turn.Delta{{Text: " word", IDs: []uint32{300}}}}, m.thaw}, nil
	case refuses:
		return nil, &turn.Refused{Status: 400, Message: "not this one"}
	}
	return aWord(ctx, j)
}

// dies is an answer whose worker is lost where it has no more to say.
type dies struct{ script }

func (d *dies) Next() (turn.Delta, error) {
	if len(d.deltas) == 0 {
		return turn.Delta{}, fmt.Errorf("the connection broke: %w", turn.ErrLost)
	}
	return d.script.Next()
}

// pauses is an answer that goes on when its worker is let go.
type pauses struct {
	script
	thaw <-chan struct{}
}

func (p *pauses) Next() (turn.Delta, error) {
	if len(p.deltas) > 0 {
		return p.script.Next()
	}
	select {
	case <-p.thaw:
		return turn.Delta{Text: " end", IDs: []uint32{301}, End: &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: 10, Output: 2}}}, nil
	case <-p.ctx.Done():
		return turn.Delta{}, context.Cause(p.ctx)
	}
}

// rise starts an engine at its port, unless it runs.
func (m *mess) rise(i int) {
	if m.alive[i] != nil {
		return
	}
	ctx, fall := context.WithCancel(context.Background())
	ended := make(chan struct{})
	m.alive[i] = func() { fall(); <-ended }
	go func() {
		defer close(ended)
		sim.Run(ctx, []string{
			"--port", strconv.Itoa(m.at[i]), "--served-model-name", "sim", "--speed", "20", "--kv-tokens", "4096", "--max-num-seqs", "4",
			"--kv-events-config", `{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:0","replay_endpoint":"tcp://*:0","topic":"kv"}`,
		}, io.Discard, io.Discard)
	}()
}

// fall ends an engine with all that it does.
func (m *mess) fall(i int) {
	if m.alive[i] != nil {
		m.alive[i]()
		m.alive[i] = nil
	}
}

// drain takes an engine out of routing, or back where it is out.
func (m *mess) drain(i int) {
	name := m.fleet.Workers()[i].Name()
	if m.drops[i] != nil {
		m.drops[i]()
		m.drops[i] = nil
		m.fleet.Restart(context.Background(), name)
		return
	}
	ctx, drop := context.WithCancel(context.Background())
	m.drops[i] = drop
	go m.fleet.Drain(ctx, name)
}

// plan is one client's turn.
type plan struct {
	path    string
	session int
	words   int
	tokens  int
	stream  bool
	leaves  int // after so many bytes of the answer; below 0 never
}

func drawPlan(t *rapid.T) plan {
	return plan{
		path:    rapid.SampledFrom([]string{"/v1/messages", chatPath, "/v1/responses"}).Draw(t, "path"),
		session: rapid.IntRange(0, 5).Draw(t, "session"),
		words:   rapid.IntRange(1, 120).Draw(t, "words"),
		tokens:  rapid.IntRange(1, 24).Draw(t, "tokens"),
		stream:  rapid.Bool().Draw(t, "stream"),
		leaves:  rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 300, 900}).Draw(t, "leaves"),
	}
}

// id finds the turn that an answer is of.
var idOf = regexp.MustCompile(`"id": ?"(?:chatcmpl-|msg_|resp_)(t[0-9a-f]{16})`)

// take sends a turn, reads its answer as far as its client wants, and holds
// what came against what may come.
func (m *mess) take(p plan) {
	text, limit := quote(strings.Repeat(fmt.Sprint("words of ", p.session, " "), p.words)), "max_tokens"
	body := fmt.Sprintf(`"messages":[{"role":"user","content":%s}]`, text)
	if p.path == "/v1/responses" {
		body, limit = `"input":`+text, "max_output_tokens"
	}
	body = fmt.Sprintf(`{"model":"sim","stream":%v,"%s":%d,%s}`, p.stream, limit, p.tokens, body)
	ctx, leave := context.WithTimeout(context.Background(), time.Minute)
	defer leave()
	if p.leaves == 0 {
		go leave()
	}
	got, status, err := m.read(ctx, p, body)
	switch {
	case p.leaves >= 0 && (errors.Is(err, context.Canceled) || len(got) >= p.leaves):
		return
	case err != nil:
		m.t.Errorf("%s: %v after %q", p.path, err, got)
	case status == 200:
		m.holds(p, got)
	case !slices.Contains([]int{400, 429, 500, 502, 503, 529}, status) || !strings.Contains(got, `"error"`):
		m.t.Errorf("%s: %d %s", p.path, status, got)
	}
}

// read sends a body and reads of the answer what its client wants.
func (m *mess) read(ctx context.Context, p plan, body string) (got string, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, "POST", m.url+p.path, strings.NewReader(body))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("x-session-id", fmt.Sprint("s", p.session))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	in := io.Reader(resp.Body)
	if p.leaves > 0 {
		in = io.LimitReader(in, int64(p.leaves))
	}
	b, err := io.ReadAll(in)
	return string(b), resp.StatusCode, err
}

// holds looks at an answer that its client read to the end.
func (m *mess) holds(p plan, got string) {
	how := "end"
	if p.stream {
		how = ended(m.t, p.path, got)
	}
	id := idOf.FindStringSubmatch(got)
	if id == nil {
		m.t.Errorf("%s: an answer of no turn: %s", p.path, got)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told[id[1]] = how
}

// happen does one thing that may happen.
func (m *mess) happen(t *rapid.T, clients *sync.WaitGroup) {
	i := rapid.IntRange(0, 1).Draw(t, "engine")
	switch rapid.SampledFrom([]string{"turn", "turn", "turn", "turn", "turn", "turn", "turn", "turn", "mood", "mood", "kill", "rise", "rise", "drain", "knobs", "events", "quiet", "forget"}).Draw(t, "what") {
	case "turn":
		p := drawPlan(t)
		clients.Go(func() { m.take(p) })
	case "mood":
		m.mood.Store(int32(rapid.IntRange(0, moods-1).Draw(t, "mood")))
	case "kill":
		m.fall(i)
	case "rise":
		m.rise(i)
	case "drain":
		m.drain(i)
	case "knobs":
		k := Knobs{Strategy: rapid.SampledFrom(route.Names()).Draw(t, "strategy")}
		if rapid.Bool().Draw(t, "short") {
			k.Depth, k.Age = 2, 50*time.Millisecond
		}
		if full := rapid.SampledFrom([]float64{-1, 0, 0.01, 4}).Draw(t, "threshold"); full != 0 {
			k.Threshold = &full
		}
		m.s.SetKnobs(k)
	case "events":
		m.s.KV(turn.KVBatch{Worker: m.fleet.Workers()[i].Name(), Events: []turn.KVEvent{{Kind: turn.KVRestart}}})
	case "quiet":
		m.lull(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
	case "forget":
		id := fmt.Sprint("s", rapid.IntRange(0, 5).Draw(t, "session")) // but not its rows, which are counted
		m.s.sessions.Forget(id)
		m.s.all()[0].raw.Forget(id)
		m.s.all()[0].forgetSession(id)
	}
}

// calm ends what would keep a turn for ever.
func (m *mess) calm() {
	m.mood.Store(obliges)
	m.lull(0)
	close(m.thaw)
}

// lull has the puppet show no sign of work for so long.
func (m *mess) lull(d time.Duration) {
	m.odd.mu.Lock()
	m.odd.load.Quiet = d
	m.odd.mu.Unlock()
	m.s.all()[0].feel()
}

// TestAnything lets clients come and leave while engines are killed, started
// anew at their ports, drained, hung and lied about, and knobs are turned.
// Whatever happens: every answer ends once, every turn has one row, nothing is
// left in any book, and the metrics are the sums of the rows.
func TestAnything(t *testing.T) {
	lasts := chaosFor
	if s := os.Getenv("DYN_CHAOS"); s != "" {
		var err error
		if lasts, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	m := newMess(t)
	checks := 0
	check := func(rt *rapid.T) {
		steps := rapid.IntRange(1, 30).Draw(rt, "steps")
		checks++
		m.mood.Store(obliges)
		var clients sync.WaitGroup
		for range steps {
			m.happen(rt, &clients)
		}
		m.calm()
		clients.Wait()
		settles(t, m.s, m.until)
		m.thaw = make(chan struct{})
		if t.Failed() {
			rt.Fatal("see above")
		}
	}
	for over := time.Now().Add(lasts); time.Now().Before(over) && !t.Failed(); {
		rapid.Check(t, func(rt *rapid.T) {
			if time.Now().Before(over) {
				check(rt)
			}
		})
	}
	_, page := m.get("/metrics")
	rows := landedRows(t, m.s, m.path)
	balances(t, m.s, page, rows)
	how := map[string]int{}
	for _, row := range rows {
		how[row.Outcome]++
		if told, ok := m.told[row.ID]; ok && (told == "fail") != (row.Outcome == "fail" || row.Outcome == "reject") {
			t.Errorf("turn %s: its client was told %s, the ledger %s %s", row.ID, told, row.Outcome, row.Error)
		}
		delete(m.told, row.ID)
	}
	if len(m.told) > 0 {
		t.Errorf("turns without a row: %v", m.told)
	}
	t.Logf("%d times, %d turns: %v", checks, len(rows), how)
}
