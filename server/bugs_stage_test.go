package server

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	simmodel "github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// strictTemplate takes one system message, at the start, as those of many
// model families do, and shows reasoning.
const strictTemplate = `{%- for m in messages -%}
{%- if m.role == 'system' and not loop.first -%}{{ raise_exception('System message must be at the beginning.') }}{%- endif -%}
{{- '<|im_start|>' ~ m.role ~ '\n' -}}
{%- if m.reasoning_content -%}{{ '<think>' ~ m.reasoning_content ~ '</think>' }}{%- endif -%}
{{- m.content or '' -}}
{%- for c in m.tool_calls or [] -%}{{ '<tool_call>' ~ (c.function | tojson) ~ '</tool_call>' }}{%- endfor -%}
{%- if loop.first and tools -%}{{ tools | tojson }}{%- endif -%}
{{- '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}{%- endif -%}`

// scripted is a server whose one worker says what a test wants, and keeps what
// it was asked.
type scripted struct {
	*stage
	m *prompt.Model

	mu   sync.Mutex
	play player
	jobs []turn.Job
}

// player answers a job.
type player func(ctx context.Context, j turn.Job) (turn.Stream, error)

// newScripted serves a template ("" is the simulated model's own). The worker
// says "ok" until a test sets another play.
func newScripted(t *testing.T, tmpl string) *scripted {
	t.Helper()
	b := &scripted{m: modelOf(t, tmpl)}
	b.play = b.saying("ok")
	b.stage = &stage{t: t, path: filepath.Join(t.TempDir(), "ledger.db")}
	b.l = ledger.Open(b.path, ledger.Options{})
	b.s = New(Options{Ledger: b.l})
	b.s.AddModel(Model{ID: "sim", Prompt: b.m, Parser: hermes})
	if err := b.s.Update(&puppet{name: "w0", caps: caps(20000), play: b.answer}); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.url = "http://" + ln.Addr().String()
	go b.s.Serve(ln, b.url)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		b.s.Shutdown(ctx)
		b.l.Close()
	})
	return b
}

// answer keeps a job and plays.
func (b *scripted) answer(ctx context.Context, j turn.Job) (turn.Stream, error) {
	b.mu.Lock()
	b.jobs = append(b.jobs, j)
	play := b.play
	b.mu.Unlock()
	return play(ctx, j)
}

// modelOf is the simulated model with another template.
func modelOf(t *testing.T, tmpl string) *prompt.Model {
	t.Helper()
	if tmpl == "" {
		return simModel(t)
	}
	files := fstest.MapFS{"chat_template.jinja": {Data: []byte(tmpl)}}
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "config.json", "generation_config.json"} {
		data, err := fs.ReadFile(simmodel.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	m, err := prompt.OpenFS(files, prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// saying plays pieces of text and a natural end.
func (b *scripted) saying(pieces ...string) player {
	return func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		deltas := b.deltas(pieces...)
		deltas[len(deltas)-1].End = &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 5}}
		return &script{ctx, deltas}, nil
	}
}

// breaking plays pieces of text and then an error, as the stream's next step.
func (b *scripted) breaking(err error, pieces ...string) player {
	return func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
		return &broken{script{ctx, b.deltas(pieces...)}, err}, nil
	}
}

func (b *scripted) deltas(pieces ...string) (ds []turn.Delta) {
	for _, p := range pieces {
		ds = append(ds, turn.Delta{Text: p, IDs: b.m.Tokenizer().Encode(nil, p)})
	}
	return ds
}

// broken is a script that ends in an error.
type broken struct {
	script
	err error
}

func (s *broken) Next() (turn.Delta, error) {
	if len(s.deltas) == 0 {
		return turn.Delta{}, s.err
	}
	return s.script.Next()
}

// prompts returns the texts that the worker was asked to go on from.
func (b *scripted) prompts() (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		texts = append(texts, string(b.m.Tokenizer().Decode(nil, j.Prompt.Flat())))
	}
	return texts
}

// ok posts and expects a 200.
func (b *scripted) ok(path, body string, headers ...string) string {
	b.t.Helper()
	status, answer := b.post(b.t.Context(), path, body, headers...)
	if status != 200 {
		b.t.Fatalf("%s: %d %s", path, status, answer)
	}
	return answer
}

// ordered fails the test unless s holds the words in this order.
func ordered(t *testing.T, s string, words ...string) {
	t.Helper()
	rest := s
	for _, w := range words {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Fatalf("no %s where it should be in\n%s", w, s)
		}
		rest = after
	}
}

// follow posts and hands over the lines of the answer as they come.
func (b *scripted) follow(path, body string) <-chan string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "POST", b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		defer resp.Body.Close()
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			lines <- in.Text()
		}
	}()
	return lines
}

// fetched gets a document.
func (b *scripted) fetched(path string) string {
	b.t.Helper()
	resp, err := http.Get(b.url + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(body)
}

// templatesOf returns the fixtures' templates of a pattern, by their names.
func templatesOf(t *testing.T, pattern string) map[string]string {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "fixtures")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "templates", pattern))
	if len(files) == 0 {
		t.Logf("no templates %s in %s: set DYN_FIXTURES to the fixtures' folder", pattern, dir)
	}
	templates := map[string]string{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		templates[filepath.Base(f)] = string(data)
	}
	return templates
}
