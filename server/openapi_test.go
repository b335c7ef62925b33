package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/server/openapi/conform"
)

// TestMain holds every request and answer that the tests of this package
// exchange over HTTP against the description of the API.
func TestMain(m *testing.M) {
	page, err := conform.Read(describe("test", table()))
	if err != nil {
		panic(err)
	}
	w := &witness{page: page, next: http.DefaultTransport, said: map[string]string{}}
	http.DefaultClient.Transport = w
	code := m.Run()
	for complaint, example := range w.said {
		fmt.Fprintln(os.Stderr, "openapi:", complaint, "in", example)
		code = 1
	}
	os.Exit(code)
}

// witness is a transport that reads along.
type witness struct {
	page *conform.Page
	next http.RoundTripper

	mu   sync.Mutex        // guards said
	said map[string]string // complaints, each with an example
}

func (w *witness) complain(complaint string, example []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.said) < 50 {
		w.said[complaint] = fmt.Sprintf("%.300s", example)
	}
}

func (w *witness) RoundTrip(req *http.Request) (*http.Response, error) {
	var asked []byte
	if req.Body != nil {
		asked, _ = io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(asked))
	}
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	x := &exchange{ReadCloser: resp.Body, w: w, name: req.Method + " " + req.URL.Path, resp: resp, asked: asked}
	x.op = w.page.Operation(req.Method, req.URL.Path)
	resp.Body = x
	return resp, nil
}

// exchange is one request, and its answer while it is read.
type exchange struct {
	io.ReadCloser
	w     *witness
	op    map[string]any
	name  string
	resp  *http.Response
	asked []byte
	got   bytes.Buffer
	whole bool
}

func (x *exchange) Read(p []byte) (int, error) {
	n, err := x.ReadCloser.Read(p)
	x.got.Write(p[:n])
	if err == io.EOF && !x.whole {
		x.whole = true
		x.judge()
	}
	return n, err
}

// judge holds the exchange against the description. Requests that were
// refused may be anything, and routes that are not there may not be described;
// what dyn only hands on is not its own.
func (x *exchange) judge() {
	ok := x.resp.StatusCode == http.StatusOK
	switch {
	case x.resp.Header.Get("x-request-id") == "" || x.resp.StatusCode == 404 || x.resp.StatusCode == 405:
		return
	case x.op == nil:
		if x.resp.StatusCode != 401 && !strings.HasPrefix(x.name, "HEAD") {
			x.w.complain(x.name+" is not described", x.asked)
		}
		return
	}
	if in := conform.Dig(x.op, "requestBody", "content", "application/json", "schema"); ok && in != nil && len(x.asked) > 0 {
		x.check("request", in, x.asked)
	}
	if !ok {
		if strings.HasPrefix(x.resp.Header.Get("Content-Type"), "application/json") && x.name != "GET /health" {
			x.check("error", conform.Dig(x.op, "responses", "default", "content", "application/json", "schema"), x.got.Bytes())
		}
		return
	}
	kind, _, _ := strings.Cut(x.resp.Header.Get("Content-Type"), ";")
	content := conform.Dig(x.op, "responses", "200", "content", kind)
	switch {
	case content == nil:
		x.w.complain(x.name+": an answer of kind "+kind+" is not described", nil)
	case kind == "text/event-stream":
		for _, e := range data(x.got.String()) {
			x.check("event", conform.Dig(content, "x-event"), []byte(strings.TrimSpace(e)))
		}
	case kind == "application/json":
		x.check("answer", conform.Dig(content, "schema"), x.got.Bytes())
	}
}

func (x *exchange) check(what string, schema any, value []byte) {
	if !json.Valid(value) {
		return // cut by the test
	}
	if err := x.w.page.Check(schema, value); err != nil {
		x.w.complain(x.name+": "+what+": "+err.Error(), value)
	}
}

// TestOpenAPI: the page is served, and names every endpoint once.
func TestOpenAPI(t *testing.T) {
	st := newStage(t)
	a := ask(t, "GET", st.url+"/openapi.json", "")
	page, err := conform.Read([]byte(a.body))
	if a.status != 200 || err != nil {
		t.Fatalf("%d %v", a.status, err)
	}
	for _, e := range table() {
		if page.Operation(e.method, e.path) == nil {
			t.Errorf("%s %s is not on the page", e.method, e.path)
		}
	}
	if v := doc(t, a.body)["openapi"]; v != "3.1.0" {
		t.Errorf("version %v", v)
	}
}

// TestNothingIsDefinedInVain: each definition is on the page, or part of one
// that is.
func TestNothingIsDefinedInVain(t *testing.T) {
	var page struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(describe("test", table()), &page); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("openapi/api/*.schema")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, m := range regexp.MustCompile(`(?m)^(\w+) = `).FindAllStringSubmatch(all.String(), -1) {
		if page.Components.Schemas[m[1]] == nil && !strings.Contains(all.String(), "+"+m[1]) {
			t.Errorf("nobody uses %s", m[1])
		}
	}
}

// TestWitnessSees: what is not described is told, so that the check above is
// worth something.
func TestWitnessSees(t *testing.T) {
	page, err := conform.Read(describe("test", table()))
	if err != nil {
		t.Fatal(err)
	}
	op := page.Operation("POST", "/v1/messages")
	out := conform.Dig(op, "responses", "200", "content", "application/json", "schema")
	in := conform.Dig(op, "requestBody", "content", "application/json", "schema")
	flow := conform.Dig(op, "responses", "200", "content", "text/event-stream", "x-event")
	good := `{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}`
	for _, c := range []struct {
		schema any
		value  string
		says   string
	}{
		{out, good, ""},
		{out, strings.Replace(good, `"role"`, `"roll"`, 1), "role"},
		{out, strings.Replace(good, `"output_tokens":1`, `"output_tokens":"1"`, 1), "output_tokens: is string"},
		{out, strings.Replace(good, `[]`, `[{"type":"text"}]`, 1), "lacks text"},
		{flow, `{"type":"content_block_stop","index":0,"extra":1}`, "extra"},
		{flow, `{"type":"never_heard_of"}`, "fits none"},
		{in, hi, ""},
		{in, `{"model":"sim","messages":[{"role":"wizard","content":"x"}],"max_tokens":4}`, "wizard"},
		{in, `{"model":"sim","messages":[],"max_tokens":4,"temperature":"hot"}`, "temperature"},
	} {
		err := page.Check(c.schema, []byte(c.value))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.value, err, c.says)
		}
	}
}

// TestRecordedRequestsAreDescribed: what real clients send fits the
// description of the API.
func TestRecordedRequestsAreDescribed(t *testing.T) {
	page, err := conform.Read(describe("test", table()))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range replays(t, true) {
		path, _, _ := strings.Cut(q.path, "?")
		op := page.Operation(q.method, path)
		if len(q.body) == 0 || op == nil {
			continue
		}
		if err := page.Check(conform.Dig(op, "requestBody", "content", "application/json", "schema"), q.body); err != nil {
			t.Errorf("%s: %v", q.name, err)
		}
	}
}
