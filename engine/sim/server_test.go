package sim

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/sim/core"
)

// post sends a body and returns status and answer.
func (r *rig) post(path, body string) (int, string) {
	r.t.Helper()
	resp, err := http.Post("http://"+r.addr+path, "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestBadInput(t *testing.T) {
	r := start(t, nil, "--max-model-len", "64")
	long := "[" + strings.Repeat("1,", 99) + "1]"
	for _, c := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"no object", "/v1/completions", `[1]`, 400, "valid dictionary"},
		{"deep", "/v1/completions", strings.Repeat("[", 100_000), 400, "nested too deep"},
		{"cut", "/v1/completions", `{"prompt":[1,`, 400, "json_invalid"},
		{"no prompt", "/v1/completions", `{}`, 400, "Either prompt"},
		{"prompt is a number", "/v1/completions", `{"prompt":7}`, 400, "3 validation errors"},
		{"fraction in the prompt", "/v1/completions", `{"prompt":[1.5]}`, 400, "fractional part"},
		{"huge id", "/v1/completions", `{"prompt":[99999999999]}`, 400, ""},
		{"two prompts", "/v1/completions", `{"prompt":["a","b"]}`, 400, "not supported"},
		{"one prompt in a list", "/v1/completions", `{"prompt":[[1,2]]}`, 200, "simulated engine"},
		{"too long", "/v1/completions", `{"prompt":` + long + `}`, 400, "maximum context length is 64"},
		{"clamped", "/v1/completions", `{"prompt":[1],"max_tokens":64,"ignore_eos":true}`, 200, `"completion_tokens":63`},
		{"null is all that fits", "/v1/completions", `{"prompt":[1],"max_tokens":null,"ignore_eos":true}`, 200, `"completion_tokens":63`},
		{"negative limit", "/v1/completions", `{"prompt":[1],"max_tokens":-1}`, 400, "max_tokens must be at least 1, got -1"},
		{"limit in a string", "/v1/completions", `{"prompt":[1],"max_tokens":"3"}`, 200, `"completion_tokens":3`},
		{"list for a flag", "/v1/completions", `{"prompt":[1],"stream":[]}`, 400, "valid boolean"},
		{"empty stop", "/v1/completions", `{"prompt":[1],"stop":[""]}`, 400, "empty string"},
		{"too many minimum tokens", "/v1/completions", `{"prompt":[1],"min_tokens":17}`, 400, "less than or equal to max_tokens=16"},
		{"broken text", "/v1/completions", "{\"prompt\":\"a\xff\\ud800\"}", 200, "simulated engine"},
		{"no messages to tokenize", "/tokenize", `{"messages":[]}`, 400, "Field required"},
		{"nothing to tokenize", "/tokenize", `{"prompt":"","return_token_strs":true}`, 200, `"tokens":[],"token_strs":[]`},
		{"wrong ids", "/detokenize", `{"tokens":[99999999]}`, 400, "out of vocabulary"},
		{"no ids", "/detokenize", `{"tokens":"x"}`, 400, "valid list"},
		{"wrong method", "/v1/models", `{}`, 405, "Method Not Allowed"},
		{"unknown route", "/v2/models", `{}`, 404, "Not Found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			r.script.say(brain.Answer{IDs: r.folder.tok.Encode(nil, brain.Sentence)})
			status, body := r.post(c.path, c.body)
			if status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("want %d with %q, got %d: %.300s", c.status, c.want, status, body)
			}
		})
	}
	r.t = t
	if status, body := r.post("/v1/completions", `{"prompt":"`+strings.Repeat("a", maxBody)+`"}`); status != 413 {
		t.Errorf("want 413, got %d: %s", status, body)
	}
}

// TestLongAnswer: the deadline for reading a request does not end its answer.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	r := startWith(t, nil, func(s *server) { s.reading = 2 * time.Second }) // enough for a busy machine to read it
	r.script.say(brain.Answer{IDs: []uint32{1, 2, 3, 4}, Pause: 900 * time.Millisecond})
	if status, body := r.post("/v1/completions", `{"prompt":[1]}`); status != 200 || !strings.Contains(body, `"stop"`) {
		t.Errorf("got %d: %s", status, body)
	}
}

// TestCut: a scripted fault cuts the connection behind the tokens it lets out.
func TestCut(t *testing.T) {
	r := start(t, nil, "--served-model-name", "tiny")
	r.script.say(brain.Answer{IDs: []uint32{70, 71, 72, 73}, Fault: brain.Close, After: 2})
	body := `{"prompt":[1],"stream":true,"return_token_ids":true}`
	got := r.play(exchange{Request: "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body})
	if want := []int{70, 71}; !slices.Equal(want, got.IDs) || got.Finish != nil || got.Done {
		t.Errorf("want ids %v and no end, got %+v", want, got)
	}
}

// TestSlowClient: a client that does not read holds up its own answer only,
// and costs no more memory than the answer is long.
func TestSlowClient(t *testing.T) {
	r := start(t, nil, "--max-num-seqs", "4")
	r.script.say(brain.Answer{IDs: []uint32{70, 71, 72, 73}})
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"prompt":[1],"stream":true,"ignore_eos":true,"max_tokens":200000}`
	if _, err := io.WriteString(c, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
		strconv.Itoa(len(body))+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	until(t, "the engine is done with it", func() bool {
		return r.engine.Stats().Ended[core.Length] == 1
	})
	if status, got := r.post("/v1/completions", `{"prompt":[2],"max_tokens":3}`); status != 200 {
		t.Errorf("another client got %d: %s", status, got)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if n := strings.Count(string(all), "data: "); err != nil || !strings.HasSuffix(string(all), "data: [DONE]\n\n") || n > 100_000 {
		t.Errorf("%d events, %v", n, err)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "brain.yaml")
	if err := os.WriteFile(file, []byte("rules: [{when: 'hi$', say: 'Hello <b>you</b>'}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "model")
	if err := Run(context.Background(), []string{"--write-model", model}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, []string{"--speed", "0", "--brain", file, "--model-dir", model, "--kv-tokens", "1600"}, in, io.Discard)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, _ := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"say hi","model":"sim"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(body), "Hello <b>you</b>") {
		t.Errorf("got %s, %v", body, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string // "" is no error
	}{
		{"a launch line of vllm", []string{"--enable-prefix-caching", "--prefix-caching-hash-algo", "sha256_cbor", "--block-size", "32"}, ""},
		{"unknown", []string{"--frobnicate"}, "frobnicate"},
		{"argument", []string{"model"}, `unexpected argument "model"`},
		{"zero block", []string{"--block-size", "0"}, "--block-size must be at least 1"},
		{"tiny cache", []string{"--kv-tokens", "20"}, "too small"},
		{"vast cache", []string{"--kv-tokens", "99999999999999"}, "too large"},
		{"negative speed", []string{"--speed", "-1"}, "not negative"},
		{"speed that is no number", []string{"--speed", "NaN"}, "not negative"},
		{"policy", []string{"--scheduling-policy", "luck"}, "luck"},
		{"port", []string{"--port", "70000"}, "no port"},
		{"events", []string{"--kv-events-config", "{"}, "kv events config"},
		{"profile", []string{"--profile", "abacus"}, "known are"},
		{"brain", []string{"--brain", "/nowhere/brain.yaml"}, "read brain"},
		{"model", []string{"--model-dir", "/nowhere"}, "read model folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			stop()
			err := Run(ctx, c.args, io.Discard, io.Discard)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}
