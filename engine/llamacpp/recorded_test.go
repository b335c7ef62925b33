package llamacpp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// recordings are all recorded exchanges, by file.
func recordings(t *testing.T) map[string][]fake.Exchange {
	t.Helper()
	dir := fixtures.Dir(t, "engines/llamacpp")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	all := map[string][]fake.Exchange{}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if name == "kv-reuse" || name == "keep-alive" { // no exchanges
			continue
		}
		all[name] = fake.Llama(t, dir, name)
		for i := range all[name] {
			repair(t, &all[name][i])
		}
	}
	return all
}

// shortened is what recordings have in place of a sentence that comes N times.
// Inside a JSON string its quotes are wrong.
var shortened = regexp.MustCompile(`<"[^"]*" x \d+>`)

func repair(t *testing.T, e *fake.Exchange) {
	if e.Status != 200 || !shortened.Match(e.Response) {
		return
	}
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(e.Response)), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	e.Response = append([]byte("HTTP/1.1 200 OK\r\n\r\n"), shortened.ReplaceAll(body, nil)...)
}

// knowing makes a client that has been told what the server can do.
func knowing(t testing.TB, url string, args ...string) *client {
	t.Helper()
	c := newClient(engine.Endpoint{URL: url, Args: args})
	r := readRules(args)
	r.context = 2048
	c.start(newMirror(2, r))
	c.formed.Store(true)
	t.Cleanup(c.Close)
	return c
}

// job is what the recorded request asked for.
func job(body []byte) turn.Job {
	b := gjson.ParseBytes(body)
	j := turn.Job{ID: "t1", MaxTokens: int(b.Get("n_predict").Int())}
	var ids []uint32
	for _, id := range b.Get("prompt").Array() {
		ids = append(ids, uint32(id.Int()))
	}
	if len(ids) == 0 {
		ids = []uint32{1}
	}
	j.Prompt = turn.IDsOf(ids...)
	for _, s := range b.Get("stop").Array() {
		j.Stop = append(j.Stop, s.Str)
	}
	j.Sampling.Logprobs = b.Get("n_probs").Int() > 0
	j.Sampling.TopLogprobs = int(b.Get("n_probs").Int())
	return j
}

// heard is what came of an answer.
type heard struct {
	text   string
	ids    []uint32
	likely []turn.Logprob
	end    *turn.End
	err    error
}

func listen(t testing.TB, c *client, j turn.Job) (h heard) {
	t.Helper()
	s, err := c.Generate(t.Context(), j)
	if err != nil {
		return heard{err: err}
	}
	defer s.Close()
	for {
		d, err := s.Next()
		h.text, h.ids, h.likely = h.text+d.Text, append(h.ids, d.IDs...), append(h.likely, d.Logprobs...)
		if err != nil || d.End != nil {
			h.end, h.err = d.End, err
			return h
		}
	}
}

// sent is what the recorded bytes say, read by other means.
func sent(e fake.Exchange) (steps []gjson.Result, whole bool) {
	_, body, _ := bytes.Cut(e.Response, []byte("\r\n\r\n"))
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		step := gjson.ParseBytes(bytes.TrimSpace(data))
		steps = append(steps, step)
		whole = whole || step.Get("stop").Bool()
	}
	return steps, whole
}

// Every recorded answer to POST /completion becomes what it means, however its
// bytes are cut.
func TestRecordedCompletions(t *testing.T) {
	n := 0
	for name, list := range recordings(t) {
		for i, e := range list {
			if e.Path != "/completion" || e.Method != "POST" {
				continue
			}
			n++
			for _, size := range []int{1, 13, len(e.Response) + 1} {
				c := knowing(t, fake.Replay(t, size, fake.Same(e.Response)))
				checkHeard(t, name, i, e, listen(t, c, job(e.Body)))
			}
		}
	}
	if n < 60 {
		t.Errorf("%d completions were recorded, want more", n)
	}
}

func checkHeard(t *testing.T, name string, i int, e fake.Exchange, h heard) {
	t.Helper()
	steps, whole := sent(e)
	var refused *turn.Refused
	isRefused := errors.As(h.err, &refused)
	_, body, _ := bytes.Cut(e.Response, []byte("\r\n\r\n"))
	switch {
	case e.Status == 503:
		if !errors.Is(h.err, turn.ErrLost) || !errors.Is(h.err, turn.ErrUnsent) {
			t.Errorf("%s/%d: error is %v", name, i, h.err)
		}
	case e.Status >= 400: // a 500 about JSON too
		if !isRefused || refused.Status != http.StatusBadRequest || errors.Is(h.err, turn.ErrLost) {
			t.Errorf("%s/%d: status %d is %v", name, i, e.Status, h.err)
		}
		if n := gjson.GetBytes(body, "error.n_prompt_tokens"); n.Exists() &&
			(!strings.Contains(h.err.Error(), n.Raw) || !strings.Contains(h.err.Error(), gjson.GetBytes(body, "error.n_ctx").Raw)) {
			t.Errorf("%s/%d: no numbers in %v", name, i, h.err)
		} else if n.Exists() && (refused.Prompt != int(n.Int()) || refused.Limit != int(gjson.GetBytes(body, "error.n_ctx").Int())-1) {
			t.Errorf("%s/%d: numbers are %+v", name, i, refused)
		}
	case !whole: // cut, never begun, or a document where we ask for a stream
		if !errors.Is(h.err, turn.ErrLost) || h.end != nil {
			t.Errorf("%s/%d: no end was sent: %v, %+v", name, i, h.err, h.end)
		}
	default:
		checkWhole(t, name, i, steps, h)
	}
	text, ids := "", []uint32(nil)
	for _, s := range steps {
		text += s.Get("content").Str
		if s.Get("tokens_predicted").Int() > 0 && !s.Get("prompt_progress").Exists() {
			for _, id := range s.Get("tokens").Array() {
				ids = append(ids, uint32(id.Int()))
			}
		}
	}
	if h.text != text || !slices.Equal(h.ids, ids) {
		t.Errorf("%s/%d: heard %q %v\nsent  %q %v", name, i, h.text, h.ids, text, ids)
	}
}

func checkWhole(t *testing.T, name string, i int, steps []gjson.Result, h heard) {
	t.Helper()
	if h.err != nil || h.end == nil {
		t.Errorf("%s/%d: %v, end %+v", name, i, h.err, h.end)
		return
	}
	last := steps[len(steps)-1]
	want := turn.End{Usage: turn.Usage{
		Prompt: int(last.Get("tokens_evaluated").Int()), Output: int(last.Get("tokens_predicted").Int()),
		Cached: int(last.Get("timings.cache_n").Int()),
	}}
	switch last.Get("stop_type").Str {
	case "eos":
		want.Reason, want.StopID = turn.Ended, true
	case "word":
		want.Reason, want.StopText = turn.Stopped, last.Get("stopping_word").Str
	case "limit":
		want.Reason = turn.Cut
	}
	if *h.end != want {
		t.Errorf("%s/%d: end is %+v, want %+v", name, i, *h.end, want)
	}
}

// Every recorded exchange is one that we make, or of a route that is named
// here as none of ours.
func TestRecordedRoutes(t *testing.T) {
	others := []string{
		"/v1/", "/models", "/slots", "/no/such/path", // the chat path's, and those that are read by hand
		"/completion", "/health", "/props", "/metrics", "/tokenize", "/detokenize", "/apply-template", // have tests of their own
	}
	for name, list := range recordings(t) {
		for _, e := range list {
			if !slices.ContainsFunc(others, func(p string) bool { return strings.HasPrefix(e.Path, p) }) {
				t.Errorf("%s: %s %s has no test", name, e.Method, e.Path)
			}
		}
	}
}

// one is a recorded exchange by its file and place.
func one(t *testing.T, name string, i int) fake.Exchange {
	t.Helper()
	return fake.Llama(t, fixtures.Dir(t, "engines/llamacpp"), name)[i]
}

func TestRecordedHealth(t *testing.T) {
	for _, e := range recordings(t)["health-during-load"] {
		if e.Path != "/health" {
			continue
		}
		err := knowing(t, fake.Replay(t, 1<<20, fake.Same(e.Response))).Health(t.Context())
		if (err == nil) != (e.Status == 200) || err != nil && (!errors.Is(err, turn.ErrLost) || errors.Is(err, turn.ErrBusy)) {
			t.Errorf("status %d is %v", e.Status, err)
		}
	}
}

func TestRecordedMetrics(t *testing.T) {
	c := knowing(t, fake.Replay(t, 100, fake.Same(one(t, "metrics-used", 0).Response)))
	l, err := c.Load(t.Context())
	if err != nil || l.Hits != 1679 || l.Queries != 1679+2308 || l.Running != 0 || l.At.IsZero() {
		t.Errorf("load is %+v, %v", l, err)
	}
}

// Text of several tokens to a character comes without ids, since the server
// leaves some out; see the recording made for it.
func TestRecordedCharacters(t *testing.T) {
	raw, err := os.ReadFile("testdata/characters.txt")
	if err != nil {
		t.Fatal(err)
	}
	response := append([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), raw...)
	c := knowing(t, fake.Replay(t, 50, fake.Same(response)))
	s, err := c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1, 2, 3), MaxTokens: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var text string
	for {
		d, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		text += d.Text
		if d.Text != "" && d.IDs != nil {
			t.Errorf("%q came with %v", d.Text, d.IDs)
		}
		if d.End == nil {
			continue
		}
		if text != "👋é漢字" || d.End.Reason != turn.Ended || d.End.Usage.Output != 12 || !slices.Equal(d.IDs, []uint32{0}) || !d.End.StopID {
			t.Errorf("%q, %v, %+v", text, d.IDs, d.End)
		}
		break
	}
	if _, err := s.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}
