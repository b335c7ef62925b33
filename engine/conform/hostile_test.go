package conform_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/engine/llamacpp"
	"github.com/agentinfer/dyn/engine/sglang"
	"github.com/agentinfer/dyn/engine/trtllm"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// hostile stands before a server. Once it is armed it says to every request
// what it likes.
type hostile struct {
	url string
	to  string
	say atomic.Pointer[func(io.Writer)]
	met atomic.Int32 // requests that were answered so
}

func newHostile(t *testing.T, server string) *hostile {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	h := &hostile{url: "http://" + l.Addr().String(), to: u.Host}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go h.serve(c)
		}
	}()
	return h
}

func (h *hostile) serve(c net.Conn) {
	defer c.Close()
	q, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	if say := h.say.Load(); say != nil {
		h.met.Add(1)
		_, _ = io.Copy(io.Discard, q.Body)
		(*say)(c)
		return
	}
	server, err := net.Dial("tcp", h.to)
	if err != nil {
		return
	}
	defer server.Close()
	q.Close = true
	if q.Write(server) == nil {
		_, _ = io.Copy(c, server)
	}
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

// much writes something again and again, up to 18 MiB and until it is not
// taken any more; many up to 1 MiB.
func much(head, again string) func(io.Writer) { return repeat(head, again, 18<<20) }

func many(head, again string) func(io.Writer) { return repeat(head, again, 1<<20) }

func repeat(head, again string, most int) func(io.Writer) {
	again = strings.Repeat(again, 1+(64<<10)/len(again))
	return func(w io.Writer) {
		_, err := io.WriteString(w, head)
		for n := 0; err == nil && n < most; n += len(again) {
			_, err = io.WriteString(w, again)
		}
	}
}

func once(s string) func(io.Writer) { return func(w io.Writer) { _, _ = io.WriteString(w, s) } }

// lies are what no engine says. Where ends is set, an answer may come of it.
var lies = map[string]struct {
	say  func(io.Writer)
	ends bool
}{
	"nothing":             {once(""), false},
	"a page":              {once("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body>data</body></html>"), false},
	"another protocol":    {once("SSH-2.0-OpenSSH_9.2\r\n"), false},
	"a redirect":          {once("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"), false},
	"packed":              {once("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x08\x00\x00\x00"), false},
	"two lengths":         {once("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\ndata: "), false},
	"a length too long":   {once("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\ndata: {}\n\n"), false},
	"a chunk too long":    {once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\ndata: {}\n\n"), false},
	"a chunk of none":     {once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), false},
	"many heads":          {much("", "HTTP/1.1 103 Early Hints\r\n\r\n"), false},
	"a head without end":  {much("HTTP/1.1 200 OK\r\n", "X: y\r\n"), false},
	"a line without end":  {much(streamHead, "x"), false},
	"data without end":    {much(streamHead+"data: ", "x"), false},
	"comments":            {many(streamHead, ": ping\n\n"), false},
	"empty lines":         {many(streamHead, "\n"), false},
	"empty data":          {many(streamHead, "data:\n\n"), false},
	"empty objects":       {many(streamHead, "data: {}\n\n"), false},
	"brackets":            {much(streamHead+"data: {\"choices\":", "["), false},
	"objects in objects":  {much(streamHead+"data: ", `{"a":`), false},
	"nulls":               {once(streamHead + "data: null\n\ndata: [DONE]\n\n"), false},
	"half a character":    {once(streamHead + "data: {\"content\":\"\xc3\n\ndata: [DONE]\n\n"), false},
	"an error of nothing": {once(streamHead + "data: {\"error\":{}}\n\n"), false},
	"an error of a list":  {once(streamHead + "data: {\"error\":[[],{}]}\n\n"), false},
	"a strange code":      {once(streamHead + "data: {\"error\":{\"message\":\"m\",\"code\":9223372036854775808}}\n\n"), false},
	"only the end":        {once(streamHead + "data: [DONE]\n\n"), false},
	"many ends":           {many(streamHead, "data: [DONE]\n\n"), false},
	"wrong kinds": {once(streamHead + `data: {"choices":{"0":[]},"content":[1],"tokens":{"a":1},"stop":"yes","meta_info":[],"text":{},"output_ids":"7","usage":[]}` +
		"\n\ndata: [DONE]\n\n"), false},
	"calls beyond counting": {once(streamHead + `data: {"choices":[{"delta":{"tool_calls":[{"index":1000000000000,"function":{"name":"f","arguments":"{"}}]},"finish_reason":"stop"}]}` +
		"\n\ndata: [DONE]\n\n"), true},
	"both kinds at once": {many(streamHead, `data: {"content":"","tokens":[-1,99999999999],"tokens_predicted":9223372036854775807,"text":"","output_ids":[],"choices":[]}`+"\n\n"), false},
}

type liar struct {
	adapter engine.Adapter
	url     string
	dir     string
}

func liars(t *testing.T) map[string]liar {
	o := fake.Options{Held: true}
	dir := fake.ModelDir(t)
	return map[string]liar{
		"llamacpp": {llamacpp.Adapter{}, fake.LlamaServer(t, o).URL, ""},
		"sglang":   {sglang.Adapter{}, fake.SGLang(t, o, nil).URL, ""},
		"trtllm":   {trtllm.Adapter{}, fake.TRTLLM(t, o).URL, dir},
		"vllm":     {vllm.Adapter{}, simulated(t).URL, ""},
	}
}

// Whatever an engine says, a turn there ends soon, with an error that loses the
// worker or refuses the turn, and without much memory.
func TestHostileAnswers(t *testing.T) {
	for name, l := range liars(t) {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t, l.url)
			c := l.adapter.Open(engine.Endpoint{URL: h.url, Key: "secret", ModelDir: l.dir})
			defer c.Close()
			if _, err := c.Probe(t.Context()); err != nil {
				t.Fatal(err)
			}
			jobs := map[string]turn.Job{"by tokens": {ID: "t", Prompt: turn.IDsOf(300, 301, 302), MaxTokens: 8}}
			jobs["chat"] = turn.Job{ID: "t", MaxTokens: 8, Chat: &turn.Turn{
				Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "hi"}}}},
			}}
			for what, lie := range lies {
				for way, j := range jobs {
					h.say.Store(&lie.say)
					mem := newPeak()
					err := ending(t, c, j)
					h.say.Store(nil)
					var refused *turn.Refused
					if !(err == nil && lie.ends) && !errors.Is(err, turn.ErrLost) && !errors.As(err, &refused) {
						t.Errorf("%s, %s: %v", what, way, err)
					}
					if grown := mem.grown(); grown > 96<<20 {
						t.Errorf("%s, %s: %d MiB", what, way, grown>>20)
					}
				}
			}
			if a := ending(t, c, jobs["by tokens"]); a != nil {
				t.Errorf("after all lies an honest answer is %v", a)
			}
		})
	}
}

// Documents are no other: what is asked at other times ends as well.
func TestHostileDocuments(t *testing.T) {
	for name, l := range liars(t) {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t, l.url)
			c := l.adapter.Open(engine.Endpoint{URL: h.url, Key: "secret", ModelDir: l.dir})
			defer c.Close()
			if _, err := c.Probe(t.Context()); err != nil {
				t.Fatal(err)
			}
			asked := turn.Turn{Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "hi"}}}}}
			prompt.Steady(&asked)
			for what, lie := range lies {
				h.say.Store(&lie.say)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				mem := newPeak()
				_, _ = c.Load(ctx)
				if err := c.Health(ctx); err == nil && what == "nothing" {
					t.Error("nothing is good health")
				}
				if r, ok := c.(engine.Renderer); ok {
					if got, err := r.Render(ctx, &asked, nil); err == nil {
						t.Errorf("%s: rendered as %.40q, %d ids", what, got.Text, len(got.IDs))
					}
				}
				fresh := l.adapter.Open(engine.Endpoint{URL: h.url, Key: "secret", ModelDir: l.dir})
				if seen, err := fresh.Probe(ctx); err == nil {
					t.Errorf("%s: probed as %+v", what, seen)
				}
				fresh.Close()
				if ctx.Err() != nil {
					t.Errorf("%s: no end in a minute", what)
				}
				cancel()
				if grown := mem.grown(); grown > 96<<20 {
					t.Errorf("%s: %d MiB", what, grown>>20)
				}
			}
		})
	}
}

// ending is how a turn ends; nil is well.
func ending(t *testing.T, c engine.Client, j turn.Job) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := c.Generate(ctx, j)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		d, err := s.Next()
		if err != nil || d.End != nil {
			if ctx.Err() != nil {
				t.Error("no end in a minute")
			}
			return err
		}
	}
}

// peak watches the memory that is in use.
type peak struct {
	before uint64
	most   atomic.Uint64
	stop   chan struct{}
	done   chan struct{}
}

func newPeak() *peak {
	runtime.GC()
	p := &peak{before: inUse(), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			p.most.Store(max(p.most.Load(), inUse()))
			select {
			case <-tick.C:
			case <-p.stop:
				return
			}
		}
	}()
	return p
}

func (p *peak) grown() uint64 {
	close(p.stop)
	<-p.done
	return p.most.Load() - min(p.before, p.most.Load())
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
