package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// badCase is a request and the status that it must get.
type badCase struct {
	name, method, path, body string
	want                     int
	says                     string // must be in the answer
}

// badChat are the cases that peers-measured.md ran against other frontends,
// here with what each should have got, and more of the kind.
func badChat() []badCase {
	const p, ms = "/v1/chat/completions", `"messages":[{"role":"user","content":"hi"}]`
	good := func(s string) string { return `{"model":"sim","max_tokens":4,` + s + `}` }
	user := func(s string) string { return good(`"messages":[{"role":"user","content":"` + s + `"}]`) }
	return []badCase{
		{"valid", "POST", p, good(ms), 200, ""},
		{"invalid JSON", "POST", p, `{"model":"sim","messages":[{"role":"user",`, 400, ""},
		{"empty body", "POST", p, "", 400, ""},
		{"unknown model", "POST", p, `{"model":"no-such","max_tokens":4,` + ms + `}`, 404, "served here: sim"},
		{"model missing", "POST", p, `{` + ms + `}`, 400, "model"},
		{"negative max_tokens", "POST", p, `{"model":"sim","max_tokens":-5,` + ms + `}`, 400, "max_tokens"},
		{"zero max_tokens", "POST", p, `{"model":"sim","max_tokens":0,` + ms + `}`, 400, "max_tokens"},
		{"half max_tokens", "POST", p, `{"model":"sim","max_tokens":1.5,` + ms + `}`, 400, "max_tokens"},
		{"max_tokens a string", "POST", p, `{"model":"sim","max_tokens":"5",` + ms + `}`, 400, "max_tokens"},
		{"huge max_tokens", "POST", p, `{"model":"sim","max_tokens":99999999,` + ms + `}`, 200, ""},
		{"messages missing", "POST", p, `{"model":"sim","max_tokens":4}`, 400, "messages"},
		{"messages empty", "POST", p, good(`"messages":[]`), 400, "messages"},
		{"messages a string", "POST", p, good(`"messages":"hello"`), 400, "messages"},
		{"content a number", "POST", p, good(`"messages":[{"role":"user","content":5}]`), 400, "content"},
		{"unknown role", "POST", p, good(`"messages":[{"role":"wizard","content":"hi"}]`), 400, "wizard"},
		{"5 MB prompt", "POST", p, user(strings.Repeat("word ", 1<<20)), 400, "maximum context length is 131072"},
		{"prompt over the context", "POST", p, user(strings.Repeat("hello world ", 90000)), 400, "context_length_exceeded"},
		{"temperature a string", "POST", p, good(`"temperature":"hot",` + ms), 400, "temperature"},
		{"broken UTF-8", "POST", p, user("a\xff\xfe\xc3b"), 400, "UTF-8"},
		{"lone surrogate escape", "POST", p, user(`a\ud800b`), 200, ""},
		{"tool without schema", "POST", p, good(`"tools":[{"type":"function","function":{"name":"x"}}],` + ms), 200, ""},
		{"tool without name", "POST", p, good(`"tools":[{"type":"function","function":{}}],` + ms), 400, "name"},
		{"arguments not JSON", "POST", p, good(`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"x","arguments":"{oops"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]`), 200, ""},
		{"deeply nested", "POST", p, good(`"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `,` + ms), 400, "nested"},
		{"very deeply nested", "POST", p, strings.Repeat(`{"a":[`, 1<<20), 400, ""},
		{"unknown route", "POST", "/v1/nope", good(ms), 404, "/v1/nope"},
		{"wrong method", "GET", p, "", 405, "POST"},
		{"strange method", "BREW", p, "", 405, "POST"},
	}
}

// badMessages are the same kinds in Anthropic's dialect, and the controls.
func badMessages() []badCase {
	const p, ms = "/v1/messages", `"messages":[{"role":"user","content":"hi"}]`
	const typ = `"type":"error"`
	return []badCase{
		{"valid", "POST", p, `{"model":"sim","max_tokens":4,` + ms + `}`, 200, `"type":"message"`},
		{"with a query", "POST", p + "?beta=true", `{"model":"sim","max_tokens":4,` + ms + `}`, 200, ""},
		{"no max_tokens", "POST", p, `{"model":"sim",` + ms + `}`, 400, "max_tokens"},
		{"unknown model", "POST", p, `{"model":"no-such","max_tokens":4,` + ms + `}`, 404, "not_found_error"},
		{"invalid JSON", "POST", p, `{"model"`, 400, typ},
		{"messages empty", "POST", p, `{"model":"sim","max_tokens":4,"messages":[]}`, 400, typ},
		{"too long", "POST", p, `{"model":"sim","max_tokens":4,"messages":[{"role":"user","content":"` + strings.Repeat("hello world ", 90000) + `"}]}`, 400, "131072 maximum"},
		{"wrong method", "DELETE", p, "", 405, typ},
		{"count", "POST", p + "/count_tokens", `{"model":"sim",` + ms + `}`, 200, "input_tokens"},
		{"count unknown model", "POST", p + "/count_tokens", `{"model":"x",` + ms + `}`, 404, typ},
	}
}

// badResponses are the same kinds in OpenAI's newer dialect.
func badResponses() []badCase {
	const p = "/v1/responses"
	return []badCase{
		{"valid", "POST", p, `{"model":"sim","input":"hi"}`, 200, `"object":"response"`},
		{"no input", "POST", p, `{"model":"sim"}`, 400, "input"},
		{"input a number", "POST", p, `{"model":"sim","input":5}`, 400, "input"},
		{"negative limit", "POST", p, `{"model":"sim","input":"hi","max_output_tokens":-1}`, 400, "max_output_tokens"},
		{"not stored", "POST", p, `{"model":"sim","input":"hi","conversation":"conv_1"}`, 400, "conversation"},
		{"unknown model", "POST", p, `{"model":"no-such","input":"hi"}`, 404, "served here: sim"},
		{"upgrade", "GET", p, "", 405, "POST"},
	}
}

// TestBadInput: each gets its status in its dialect, none a 500, a hang or a
// lost connection, and the server is whole afterwards.
func TestBadInput(t *testing.T) {
	r := newRig(t, 1, "--max-model-len=131072")
	for dialect, cases := range map[string][]badCase{"chat": badChat(), "messages": badMessages(), "responses": badResponses()} {
		for _, c := range cases {
			t.Run(dialect+"/"+c.name, func(t *testing.T) {
				status, body := r.raw(t, c.method, c.path, c.body)
				if status != c.want || !strings.Contains(body, c.says) {
					t.Errorf("%d %.300s\nwant %d with %q", status, body, c.want, c.says)
				}
			})
		}
	}
	if n := r.s.count.panics.Load(); n > 0 {
		t.Errorf("%d panics", n)
	}
	if status, _ := r.get("/health"); status != 200 {
		t.Errorf("health %d afterwards", status)
	}
}

// raw sends a request as bytes, so that nothing on the way mends it.
func (r *rig) raw(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	conn := r.dial(t)
	defer conn.Close()
	go fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	return answerOf(t, conn, method)
}

func (r *rig) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

// answerOf reads one answer.
func answerOf(t *testing.T, conn net.Conn, method string) (int, string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("answer cut: %v", err)
	}
	return resp.StatusCode, string(b)
}

// TestTooLarge: a client that sends all before it reads gets its 413.
func TestTooLarge(t *testing.T) {
	r := newRigWith(t, Options{MaxBody: 1 << 20}, 1)
	body := `{"model":"sim","messages":[{"role":"user","content":"` + strings.Repeat("x", 5<<20) + `"}]}`
	for _, chunked := range []bool{false, true} {
		conn := r.dial(t)
		head := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
		if chunked {
			head = fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		}
		if _, err := io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"+head); err != nil {
			t.Fatalf("chunked=%v: write: %v", chunked, err)
		}
		if status, text := answerOf(t, conn, "POST"); status != 413 || !strings.Contains(text, "1 MiB") {
			t.Errorf("chunked=%v: %d %s", chunked, status, text)
		}
		conn.Close()
	}
}

// TestHeaderFlood: too many headers are a 431, and broken requests a 400.
func TestHeaderFlood(t *testing.T) {
	r := newRig(t, 1)
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"flood", "GET /health HTTP/1.1\r\n" + strings.Repeat("X-A: "+strings.Repeat("y", 1000)+"\r\n", 100) + "\r\n", 431},
		{"no HTTP", "hello there\r\n\r\n", 400},
		{"bad length", "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", 400},
	} {
		conn := r.dial(t)
		go io.WriteString(conn, c.text)
		if status, body := answerOf(t, conn, "GET"); status != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, status, body, c.want)
		}
		conn.Close()
	}
}

// TestHalfClosed: a client that closes its sending side counts as gone.
func TestHalfClosed(t *testing.T) {
	r := newRig(t, 1, brainFile(t, stallBrain))
	conn := r.dial(t)
	body := `{"model":"sim","messages":[{"role":"user","content":"stall at once"}]}`
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r.until("the turn is sent", func() bool { return r.s.Snapshot().Queue.Prefill == 1 })
	conn.(*net.TCPConn).CloseWrite()
	r.until("the turn has landed", func() bool { return len(r.aloft()) == 0 && r.s.count.canceled.Load() == 1 })
	conn.Close()
}
