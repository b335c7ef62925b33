package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brainFile writes a brain and returns the flag that names it.
func brainFile(t *testing.T, rules string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "brain.yaml")
	if err := os.WriteFile(path, []byte("rules:\n"+rules), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--brain=" + path
}

const toolBrain = `
  - when: '(?s)<tool_response>\s*contents of a.*assistant\n(<think>\n\n</think>\n\n)?$'
    say: The file says a.
  - when: 'read the file'
    say: |-
      Let me look.
      <tool_call>
      {"name": "Read", "arguments": {"path": "/a", "limit": 2}}
      </tool_call>
`

// words is prose of about n tokens.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d of the story, ", i)
	}
	return b.String()
}

// conversation is the first and second body of a tool loop in one dialect.
type conversation struct {
	name, path    string
	first, second string // second is a format: the call id goes in
	callID        func(answer map[string]any) string
	cached        func(answer map[string]any) float64
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func dig(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func num(v any) float64 { f, _ := v.(float64); return f }
func str(v any) string  { s, _ := v.(string); return s }

func conversations() []conversation {
	system := quote("You are terse. " + words(300))
	return []conversation{
		{
			name: "messages", path: "/v1/messages",
			first: `{"model":"sim","max_tokens":200,"system":` + system + `,"tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"read the file"}]}`,
			second: `{"model":"sim","max_tokens":200,"system":` + system + `,"tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"read the file","cache_control":{"type":"ephemeral"}}]},
				{"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"%[1]s","name":"Read","input":{"path":"/a","limit":2}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"%[1]s","content":"contents of a"}]}]}`,
			callID: func(a map[string]any) string { return str(dig(a, "content", 1, "id")) },
			cached: func(a map[string]any) float64 { return num(dig(a, "usage", "cache_read_input_tokens")) },
		},
		{
			name: "chat", path: "/v1/chat/completions",
			first: `{"model":"sim","messages":[{"role":"system","content":` + system + `},{"role":"user","content":"read the file"}],"tools":[{"type":"function","function":{"name":"Read","parameters":{"type":"object"}}}]}`,
			second: `{"model":"sim","messages":[{"role":"system","content":` + system + `},{"role":"user","content":[{"type":"text","text":"read the file"}]},
				{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"%[1]s","type":"function","function":{"name":"Read","arguments":"{\"path\":\"/a\",\"limit\":2}"}}]},
				{"role":"tool","tool_call_id":"%[1]s","content":"contents of a"}],"tools":[{"type":"function","function":{"name":"Read","parameters":{"type":"object"}}}]}`,
			callID: func(a map[string]any) string { return str(dig(a, "choices", 0, "message", "tool_calls", 0, "id")) },
			cached: func(a map[string]any) float64 { return num(dig(a, "usage", "prompt_tokens_details", "cached_tokens")) },
		},
		{
			name: "responses", path: "/v1/responses",
			first: `{"model":"sim","instructions":` + system + `,"input":"read the file","tools":[{"type":"function","name":"Read","parameters":{"type":"object"}}]}`,
			second: `{"model":"sim","instructions":` + system + `,"input":[{"role":"user","content":[{"type":"input_text","text":"read the file"}]},
				{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Let me look."}]},
				{"type":"function_call","call_id":"%[1]s","name":"Read","arguments":"{\"path\": \"/a\", \"limit\": 2}"},
				{"type":"function_call_output","call_id":"%[1]s","output":"contents of a"}],"tools":[{"type":"function","name":"Read","parameters":{"type":"object"}}]}`,
			callID: func(a map[string]any) string { return str(dig(a, "output", 1, "call_id")) },
			cached: func(a map[string]any) float64 { return num(dig(a, "usage", "input_tokens_details", "cached_tokens")) },
		},
	}
}

// TestToolLoop runs the same loop through each dialect and holds the second
// turn to what may be recomputed: what is new, and two blocks.
func TestToolLoop(t *testing.T) {
	for _, c := range conversations() {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 3, brainFile(t, toolBrain))
			status, body := r.post(c.path, c.first)
			if status != 200 {
				t.Fatalf("first: %d %s", status, body)
			}
			id := c.callID(doc(t, body))
			if id == "" {
				t.Fatalf("no call in %s", body)
			}
			first := r.rows(1)[0]
			r.until("all blocks are known", func() bool {
				cached := 0
				for _, w := range r.s.Snapshot().Workers {
					for _, tier := range w.Tiers {
						cached += max(0, tier.Cached) // -1 is a worker that stored nothing yet
					}
				}
				return cached >= (first.Prompt+first.Output-1)/16*16 // the last token was not computed
			})
			status, body = r.post(c.path, fmt.Sprintf(c.second, id))
			if status != 200 || !strings.Contains(body, "The file says a.") {
				t.Fatalf("second: %d %s", status, body)
			}
			rows := r.rows(2)
			one, two := rows[0], rows[1]
			if one.Session != two.Session || two.Agent != "main" {
				t.Errorf("sessions %q/%q and %q/%q, want one", one.Session, one.Agent, two.Session, two.Agent)
			}
			if one.Outcome != "calls" || two.Outcome != "end" {
				t.Errorf("outcomes %q, %q", one.Outcome, two.Outcome)
			}
			fresh := two.Prompt - (one.Prompt + one.Output)
			if again := two.Prompt - two.Cached; again > fresh+2*16 {
				t.Errorf("computed again %d of %d, want at most %d: new %d and two blocks", again, two.Prompt, fresh+32, fresh)
			}
			if two.Overlap == 0 || two.Overlap != two.Cached {
				t.Errorf("overlap %d, cached %d, want equal", two.Overlap, two.Cached)
			}
			if got := c.cached(doc(t, body)); int(got) != two.Cached {
				t.Errorf("client was told %v cached, ledger %d", got, two.Cached)
			}
		})
	}
}

// TestStreamEnds checks that each dialect's stream has its terminal event.
func TestStreamEnds(t *testing.T) {
	r := newRig(t, 1, brainFile(t, toolBrain))
	for _, c := range conversations() {
		body := strings.Replace(c.first, `{"model":"sim",`, `{"model":"sim","stream":true,`, 1)
		status, got := r.post(c.path, body)
		last := map[string]string{"messages": `"type":"message_stop"`, "chat": "data: [DONE]", "responses": `"type":"response.completed"`}[c.name]
		if status != 200 || strings.Count(got, last) != 1 {
			t.Errorf("%s: status %d, %d of %s in\n%s", c.name, status, strings.Count(got, last), last, got)
		}
	}
}

const stallBrain = `
  - when: 'stall at once'
    say: never said
    fault: stall
  - when: 'stall later'
    say: one two three four five six seven eight nine ten
    fault: stall
    after: 3
  - when: 'crash later'
    say: one two three four five six seven eight nine ten
    fault: close
    after: 3
`

// TestCancel hangs up in the queue, in prefill and in the stream: the turn
// must be gone from the server and from the engine.
func TestCancel(t *testing.T) {
	for _, c := range []struct{ name, words string }{
		{"prefill", "stall at once"}, {"stream", "stall later"}, {"queue", "anything"},
	} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%v", c.name, stream), func(t *testing.T) {
				r := newRig(t, 1, "--max-num-seqs=1", brainFile(t, stallBrain))
				if c.name == "queue" {
					hold, release := context.WithCancel(t.Context())
					defer release()
					go r.try(hold, `{"model":"sim","messages":[{"role":"user","content":"stall at once"}]}`)
					r.until("the slot is taken", func() bool { return r.s.Snapshot().Queue.Prefill == 1 })
				}
				ctx, hangUp := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					r.try(ctx, fmt.Sprintf(`{"model":"sim","stream":%v,"messages":[{"role":"user","content":%q}]}`, stream, c.words))
				}()
				before := len(r.aloft())
				r.until("the turn is on its way", func() bool {
					switch q := r.s.Snapshot(); c.name {
					case "queue":
						return q.Queue.Waiting == 1
					case "prefill":
						return q.Queue.Prefill == 1
					default:
						return len(q.Sessions) > 0 && q.Sessions[0].Agents[0].State == "streaming"
					}
				})
				hangUp()
				<-done
				r.until("the turn has landed", func() bool { return len(r.aloft()) <= max(before, 0) && r.s.count.canceled.Load() == 1 })
				if c.name != "queue" {
					r.until("the engine is idle", func() bool { return r.s.Snapshot().Workers[0].Running == 0 })
				}
			})
		}
	}
}

// try sends a chat turn and reads the answer until it ends or ctx does.
func (r *rig) try(ctx context.Context, body string) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	buf := make([]byte, 4096)
	for {
		if _, err := conn.Read(buf); err != nil {
			return
		}
	}
}

// aloft lists the turns on their way.
func (r *rig) aloft() (ids []string) {
	r.s.aloft.Range(func(k, _ any) bool {
		ids = append(ids, k.(string))
		return true
	})
	return ids
}

// TestMoves loses a worker in the middle of an answer: the turn goes on at
// the other one and the client sees no seam.
func TestMoves(t *testing.T) {
	r := newRig(t, 0)
	r.start(0, brainFile(t, stallBrain))
	r.start(1, brainFile(t, `
  - when: 'assistant\n(<think>\n\n</think>\n\n)?one two three$'
    say: " and the rest"
  - say: one two three and the rest
`))
	for i := 0; i < 100 && r.s.count.moved.Load() == 0; i++ { // until one starts at the first engine
		status, body := r.post("/v1/chat/completions", fmt.Sprintf(`{"model":"sim","messages":[{"role":"user","content":"%d crash later"}]}`, i))
		if status != 200 || str(dig(doc(t, body), "choices", 0, "message", "content")) != "one two three and the rest" {
			t.Fatalf("%d %s", status, body)
		}
	}
	if r.s.count.moved.Load() == 0 {
		t.Error("no turn moved")
	}
}

// TestAllDown stops every engine: 503 at once, and everything says so, also
// where nobody had asked how the workers were while they served.
func TestAllDown(t *testing.T) {
	r := newRig(t, 2)
	for _, halt := range r.halt {
		halt()
	}
	r.until("the workers are down", func() bool { ready, _ := r.s.all()[0].ready(); return ready == 0 })
	resp := r.send(t.Context(), "/v1/messages", `{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`)
	resp.Body.Close()
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	if _, body := r.get("/health"); !strings.Contains(body, `"status":"no workers"`) {
		t.Errorf("/health says %s", body)
	}
	for path, want := range map[string]int{"/health": 503, "/live": 200, "/v1/models": 200} {
		if status, body := r.get(path); status != want {
			t.Errorf("%s: %d, want %d: %s", path, status, want, body)
		}
	}
}

// TestInterrupted: after a user's interrupt the client sends back what it has
// read, and none of it is computed again.
func TestInterrupted(t *testing.T) {
	r := newRig(t, 1, brainFile(t, "  - when: 'go on'\n    say: ok\n"+stallBrain[1:]))
	ask := `{"role":"user","content":` + quote(words(100)+" stall later") + `}`
	ctx, hangUp := context.WithCancel(t.Context())
	got := make(chan string)
	go func() {
		defer close(got)
		resp := r.send(ctx, "/v1/chat/completions", `{"model":"sim","stream":true,"messages":[`+ask+`]}`)
		defer resp.Body.Close()
		in := bufio.NewReader(resp.Body)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if text := joined(t, line); text != "" {
				got <- text
			}
		}
	}()
	text := ""
	for !strings.Contains(text, "two") { // three tokens come, then nothing
		text += <-got
	}
	hangUp()
	for more := range got {
		text += more
	}
	first := r.rows(1)[0]
	status, body := r.post("/v1/chat/completions", `{"model":"sim","messages":[`+ask+`,{"role":"assistant","content":`+quote(text)+`},{"role":"user","content":"go on"}]}`)
	if status != 200 || first.Outcome != "cancel" {
		t.Fatalf("%d %s after %+v", status, body, first)
	}
	second := r.rows(2)[1]
	fresh := second.Prompt - first.Prompt - first.Output
	if again := second.Prompt - second.Cached; again > fresh+2*16 {
		t.Errorf("computed again %d of %d, new %d", again, second.Prompt, fresh)
	}
}
