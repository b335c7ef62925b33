package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

const chatPath = "/v1/chat/completions"

// request is a POST as bytes.
func request(path, body string, headers ...string) string {
	var extra string
	for _, h := range headers {
		extra += h + "\r\n"
	}
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", path, extra, len(body), body)
}

// says is a chat body.
func says(text string, more string) string {
	return `{"model":"sim","messages":[{"role":"user","content":"` + text + `"}]` + more + `}`
}

// TestHalfClosedIsNoFault: who closes his side and still reads is not told of
// a fault of ours.
func TestHalfClosedIsNoFault(t *testing.T) {
	r := newRig(t, 1, brainFile(t, stallBrain))
	for _, more := range []string{"", `,"stream":true`} {
		conn := r.dial(t)
		io.WriteString(conn, request(chatPath, says("stall at once", more)))
		r.until("the turn is sent", func() bool { return r.s.Snapshot().Queue.Prefill == 1 })
		conn.(*net.TCPConn).CloseWrite()
		if status, body := answerOf(t, conn, "POST"); status != 499 || !strings.Contains(body, "closed") {
			t.Errorf("%q: %d %s", more, status, body)
		}
		conn.Close()
		r.until("the turn has landed", func() bool { return len(r.aloft()) == 0 })
	}
	if n := r.s.count.byStatus()[500]; n > 0 {
		t.Errorf("%d answers with 500", n)
	}
}

// TestFINBehindBytes: a FIN is seen though the client sent more before it.
func TestFINBehindBytes(t *testing.T) {
	r := newRig(t, 1, brainFile(t, stallBrain))
	conn := r.dial(t)
	defer conn.Close()
	io.WriteString(conn, request(chatPath, says("stall at once", "")))
	r.until("the turn is sent", func() bool { return r.s.Snapshot().Queue.Prefill == 1 })
	io.WriteString(conn, "\r\nGET /live HTTP/1.1\r\n")
	conn.(*net.TCPConn).CloseWrite()
	r.until("the turn has landed", func() bool { return len(r.aloft()) == 0 && r.s.count.canceled.Load() == 1 })
}

// TestEarlyNext: a client that sends its next request early gets its first
// answer when that is ready, and all in order.
func TestEarlyNext(t *testing.T) {
	r := newRig(t, 1, brainFile(t, stallBrain+"  - say: ok\n"))
	conn := r.dial(t)
	defer conn.Close()
	io.WriteString(conn, request(chatPath, says("hi", ""))+"GET /live HTTP/1.1\r\nHost: x\r\n\r\n"+request(chatPath, says("stall at once", "")))
	in := bufio.NewReader(conn)
	for i := range 2 {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != 200 {
			t.Errorf("answer %d: %d", i, resp.StatusCode)
		}
	}
}

// TestRefusedIsReadable: a refusal reaches clients that are still sending, or
// wait in the middle of their body, whatever the reason of the refusal.
func TestRefusedIsReadable(t *testing.T) {
	r := newRigWith(t, Options{MaxBody: 1 << 20}, 1)
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"no route", request("/nope", strings.Repeat("x", 5<<20)), 404},
		{"no body here", "GET" + strings.TrimPrefix(request("/v1/models/x", strings.Repeat("x", 5<<20)), "POST"), 404},
		{"method", "PUT" + strings.TrimPrefix(request(chatPath, strings.Repeat("x", 5<<20)), "POST"), 405},
		{"compressed", request(chatPath, strings.Repeat("x", 1<<19), "Content-Encoding: zstd"), 400},
		{"form", request(chatPath, says("hi", ""), "Content-Type: multipart/form-data; boundary=x"), 200},
		{"header flood", "GET /live HTTP/1.1\r\n" + strings.Repeat("X-A: "+strings.Repeat("y", 1000)+"\r\n", 5000) + "\r\n", 431},
		{"malformed", "POST / HTTP/1.1\r\nno colon\r\n\r\n" + strings.Repeat("x", 5<<20), 400},
		{"waits", "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n{", 413},
		{"asks", "POST /v1/messages HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9999999999\r\n\r\n", 413},
	} {
		conn := r.dial(t)
		if _, err := io.WriteString(conn, c.text); err != nil {
			t.Errorf("%s: write: %v", c.name, err)
			continue
		}
		if status, body := answerOf(t, conn, "POST"); status != c.want {
			t.Errorf("%s: %d %.200s, want %d", c.name, status, body, c.want)
		}
		conn.Close()
	}
}

// TestCutBody: a body that ends before its length is not taken for a whole
// one, even where it reads as such.
func TestCutBody(t *testing.T) {
	r := newRig(t, 1)
	conn := r.dial(t)
	defer conn.Close()
	body := says("hi", "")
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body)+5, body)
	conn.(*net.TCPConn).CloseWrite()
	if status, text := answerOf(t, conn, "POST"); status != 400 || !strings.Contains(text, "ended early") {
		t.Errorf("%d %s", status, text)
	}
}

// TestUnreadable: what is no request is told why, in a form that clients of
// each API read, and at once; so is a body that cannot be read.
func TestUnreadable(t *testing.T) {
	r := newRig(t, 1)
	for _, c := range []struct{ name, text, says string }{
		{"TLS", "\x16\x03\x01\x00\xc5\x01\x00\x00\xc1\x03\x03 hello", "use http://"},
		{"a CR in a header", request("/v1/messages", says("hi", ""), "X-A: a\rb"), "malformed request: "},
		{"a blank in a name", request(chatPath, says("hi", ""), "X-A : b"), "malformed request: "},
		{"two lengths", request(chatPath, says("hi", ""), "Content-Length: 5"), "malformed request: "},
		{"no number of bytes", "POST " + chatPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", "malformed request: "},
		{"no HTTP", "\x00\x01\r\n\r\n", "malformed request: "},
		{"no size of a chunk", "POST " + chatPath + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}", "the body cannot be read: "},
		{"half a head", "POST /v1/messages HTTP/1.1\r\nHo", "ended within its head"},
		{"no body", "POST /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n", "has no body"},
		{"a body without a length", "POST /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n" + hi, "has no body"},
		{"no body to count", "POST /v1/messages/count_tokens HTTP/1.1\r\nHost: x\r\n\r\n", "has no body"},
	} {
		conn := r.dial(t)
		conn.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(conn, c.text)
		if c.name == "half a head" {
			conn.(*net.TCPConn).CloseWrite()
		}
		status, body := answerOf(t, conn, "POST")
		if strings.Contains(body, "buffer size") || strings.Contains(body, "fasthttp") {
			t.Errorf("%s: %s", c.name, body)
		}
		if n, err := conn.Read(make([]byte, 1)); err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the connection stays open: %d bytes, %v", c.name, n, err)
		}
		d := doc(t, body)
		if status != 400 || !strings.Contains(str(dig(d, "error", "message")), c.says) || str(dig(d, "error", "type")) != "invalid_request_error" {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
		conn.Close()
	}
	if status, text := unheard(fmt.Errorf("read: %w", os.ErrDeadlineExceeded)); status != 408 || !strings.Contains(text, "within 30s") {
		t.Errorf("a head that never came: %d %s", status, text)
	}
}

// TestPromisedBody: a body that is announced and does not come costs little.
func TestPromisedBody(t *testing.T) {
	r := newRig(t, 1)
	before := heap()
	for range 50 {
		conn := r.dial(t)
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{%s", 30<<20, strings.Repeat(" ", 20_000))
	}
	if status, body := r.post(chatPath, says("hi", "")); status != 200 {
		t.Fatalf("another client: %d %s", status, body)
	}
	if grown := int64(heap()) - int64(before); grown > 100<<20 {
		t.Errorf("heap grew by %d MiB", grown>>20)
	}
}

// TestStopEndsStreams: what a stop cuts off says so, in a last event.
func TestStopEndsStreams(t *testing.T) {
	r := newRig(t, 1, brainFile(t, "  - when: 'slow'\n    say: one two three four\n    fault: stall\n    after: 2\n"))
	resp := r.send(t.Context(), "/v1/messages", `{"model":"sim","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"slow"}]}`)
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "text_delta") {
			break
		}
	}
	r.s.kill(errStopping)
	rest, err := io.ReadAll(in)
	if err != nil || !strings.Contains(string(rest), "event: error") || !strings.Contains(string(rest), "dyn is stopping") {
		t.Errorf("%v, %s", err, rest)
	}
}

// TestHeldBack: a client that does not read stops its worker before the kernel
// has taken megabytes.
func TestHeldBack(t *testing.T) {
	r := newRig(t, 1, brainFile(t, "  - when: 'long'\n    say: "+strings.Repeat("tick tock ", 150_000)+"\n"))
	conn := r.dial(t)
	conn.(*net.TCPConn).SetReadBuffer(4096)
	io.WriteString(conn, request(chatPath, says("long", `,"stream":true`)))
	r.until("it streams", func() bool { p := r.s.Snapshot(); return p.Workers[0].InFlight == 1 && p.Queue.Depth == 0 })
	for range 20 { // time in which the engine, unpaced, would say all it has
		if status, body := r.post(chatPath, says("long", `,"max_tokens":2000`)); status != 200 {
			t.Fatalf("another client: %d %s", status, body)
		}
	}
	conn.Close()
	rows := r.rows(21)
	if row := rows[0]; row.Outcome != "cancel" || row.Output > 150_000 {
		t.Errorf("%s, %d tokens were taken for a client that reads none", row.Outcome, row.Output)
	}
}

// TestHeldTextIsNotLost: a worker that looks for a stop string keeps the last
// characters back; when it dies, the client gets them all the same.
func TestHeldTextIsNotLost(t *testing.T) {
	r := newRig(t, 2, brainFile(t, `  - when: 'assistant\s+(<think>\s*</think>\s*)?one'
    say: " and on"
  - when: 'count'
    say: one two three four five six seven eight nine
    fault: close
    after: 5
`))
	for _, stop := range []string{"!!!!", "!!!!!!!!!", strings.Repeat("!", 14)} {
		var text strings.Builder
		status, body := r.post(chatPath, says("count", `,"stream":true,"stop":"`+stop+`"`))
		for line := range strings.Lines(body) {
			if data, ok := strings.CutPrefix(line, "data: {"); ok {
				s, _ := dig(doc(t, "{"+data), "choices", 0, "delta", "content").(string)
				text.WriteString(s)
			}
		}
		said, whole := strings.CutSuffix(text.String(), " and on")
		if status != 200 || !whole || !strings.HasPrefix("one two three four five ", said+" ") {
			t.Errorf("stop of %d: %d %q", len(stop), status, text.String())
		}
	}
}

// TestOldHTTP: a client of HTTP/1.0 gets a stream without chunks that ends
// with the connection, and a stop waits for it.
func TestOldHTTP(t *testing.T) {
	r := newRig(t, 1, brainFile(t, "  - when: 'count'\n    say: one two three\n    token_ms: 20\n"))
	conn := r.dial(t)
	defer conn.Close()
	io.WriteString(conn, strings.Replace(request(chatPath, says("count", `,"stream":true`)), "HTTP/1.1", "HTTP/1.0", 1))
	r.until("it streams", func() bool { p := r.s.Snapshot(); return p.Workers[0].InFlight == 1 && p.Queue.Depth == 0 })
	stopped := make(chan error)
	go func() { stopped <- r.s.Shutdown(t.Context()) }()
	b, err := io.ReadAll(conn)
	head, body, _ := strings.Cut(string(b), "\r\n\r\n")
	if err != nil || strings.Contains(head, "chunked") || !strings.HasPrefix(body, "data: {") || !strings.HasSuffix(body, "data: [DONE]\n\n") || !strings.Contains(body, "three") {
		t.Errorf("%v %s", err, b)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// panicky is a codec whose encoders panic at the answer's text.
type panicky struct{ dialect.Codec }

type panickyEncoder struct{ dialect.Encoder }

func (p panicky) Stream(t *turn.Turn) dialect.Encoder { return panickyEncoder{p.Codec.Stream(t)} }

func (e panickyEncoder) Event(dst []byte, ev turn.Event) []byte {
	if ev.Kind == turn.Says {
		panic("says")
	}
	return e.Encoder.Event(dst, ev)
}

// TestPanicEndsStream: a fault of ours in the middle of a stream ends that
// stream as its clients expect, and leaves nothing behind.
func TestPanicEndsStream(t *testing.T) {
	r := newRig(t, 1)
	for _, d := range []turn.Dialect{turn.Chat, turn.Messages, turn.Responses} {
		front := &fasthttp.Server{StreamRequestBody: true, Handler: func(c *fasthttp.RequestCtx) { r.s.serve(&call{RequestCtx: c, codec: panicky{dialect.For(d)}}) }}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go front.Serve(ln)
		defer ln.Close()
		resp, err := http.Post("http://"+ln.Addr().String(), "application/json", strings.NewReader(
			`{"model":"sim","stream":true,"max_tokens":99,"input":"hi","messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		last := map[turn.Dialect]string{turn.Chat: "[DONE]", turn.Messages: "event: error", turn.Responses: "event: response.failed"}[d]
		if err != nil || !strings.Contains(string(b), last) {
			t.Errorf("%s: %v, no %s in %s", d, err, last, b)
		}
	}
	if n, p := len(r.aloft()), r.s.count.panics.Load(); n != 0 || p != 3 {
		t.Errorf("%d turns aloft, %d panics counted", n, p)
	}
}
