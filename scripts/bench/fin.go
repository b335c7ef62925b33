package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/engine/port"
)

// fin measures how long after a client's FIN its request at the engine is
// aborted. The engine is one of its own, which never finishes an answer and
// sees its connection end.
func fin(dyn, model string, n int) error {
	e := &endless{started: make(chan struct{}), ended: make(chan time.Time)}
	engine, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(engine, e)
	defer engine.Close()
	home, err := os.MkdirTemp("", "dyn-fin")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	port, err := freePort()
	if err != nil {
		return err
	}
	daemon := exec.Command(dyn, "up", "--foreground", "--port", port, "--attach", "http://"+engine.Addr().String(), "--model-dir", model)
	daemon.Env = append(os.Environ(), "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_RUNTIME_DIR="+home)
	var said bytes.Buffer
	daemon.Stdout, daemon.Stderr = &said, &said
	if err := daemon.Start(); err != nil {
		return err
	}
	defer func() {
		daemon.Process.Signal(os.Interrupt)
		daemon.Wait()
	}()
	if err := healthy("http://127.0.0.1:" + port + "/health"); err != nil {
		return fmt.Errorf("%w\n%s", err, said.String())
	}
	e.probed.Store(true)
	for _, phase := range []string{"prefill", "stream"} {
		e.tokens = map[string]int{"prefill": 0, "stream": 3}[phase]
		var took []time.Duration
		for range n {
			d, err := e.hangUp(port)
			if err != nil {
				return err
			}
			took = append(took, d)
		}
		slices.Sort(took)
		json.NewEncoder(os.Stdout).Encode(map[string]any{
			"test": "fin", "note": phase, "n": n, "p50_ms": ms(took[n/2]), "max_ms": ms(took[n-1]),
		})
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// endless is an engine whose answers have no end, once it was probed.
type endless struct {
	probed  atomic.Bool
	tokens  int // sent before it falls silent
	started chan struct{}
	ended   chan time.Time
}

func (e *endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
	case "/version":
		io.WriteString(w, `{"version":"endless"}`)
	case "/v1/models":
		io.WriteString(w, `{"object":"list","data":[{"id":"endless","object":"model","max_model_len":32768}]}`)
	case "/v1/completions":
		e.complete(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (e *endless) complete(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	const token = `data: {"id":"c","object":"text_completion","choices":[{"index":0,"text":" a","token_ids":[264],"finish_reason":%s}]}` + "\n\n"
	if !e.probed.Load() {
		fmt.Fprintf(w, token, `"length"`)
		io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
		return
	}
	for range e.tokens {
		fmt.Fprintf(w, token, "null")
	}
	w.(http.Flusher).Flush()
	e.started <- struct{}{}
	<-r.Context().Done()
	e.ended <- time.Now()
}

// hangUp sends a turn, hangs up once the engine has it (and the client its
// tokens), and returns how long the engine's request lived on.
func (e *endless) hangUp(port string) (time.Duration, error) {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return 0, err
	}
	body := `{"model":"endless","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	<-e.started
	for got := ""; strings.Count(got, `"content":" a"`) < e.tokens; {
		b := make([]byte, 4096)
		k, err := conn.Read(b)
		if err != nil {
			return 0, err
		}
		got += string(b[:k])
	}
	conn.Close()
	began := time.Now()
	return (<-e.ended).Sub(began), nil
}

func freePort() (string, error) {
	p, err := port.Free()
	return strconv.Itoa(p), err
}

// healthy waits until url answers 200.
func healthy(url string) error {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(url)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return fmt.Errorf("%s: not healthy within 30 s", url)
}
