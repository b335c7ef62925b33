package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/engine/port"
)

// probeLimit is how long a llama-server may take to its first token. A model
// of 100 MB takes two or three seconds on a busy machine.
const probeLimit = 2 * time.Minute

// Probe takes one real token from a llama-server with a model file, and ends
// it again. ErrCPU is in the chain when it died of an instruction that this
// CPU has not, ErrDead when no token came for another reason.
func Probe(ctx context.Context, p Program, model string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, probeLimit, fmt.Errorf("%w in %v", ErrDead, probeLimit))
	defer cancel()
	var err error
	for range 5 { // somebody else may take the port meanwhile
		if err = probe(ctx, p, model); err == nil || !strings.Contains(err.Error(), "bind") {
			break
		}
	}
	return err
}

// probe is one try, on a port that was free a moment ago.
func probe(ctx context.Context, p Program, model string) error {
	free, err := port.Free()
	if err != nil {
		return err
	}
	args := append(p.Args[1:len(p.Args):len(p.Args)], "-m", model, "--host", "127.0.0.1", "--port", strconv.Itoa(free),
		"-c", "256", "-np", "1", "-t", "1")
	cmd := exec.Command(p.Args[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out := new(tail)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrDead, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	token := make(chan error, 1)
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() { token <- firstToken(asking, fmt.Sprintf("http://127.0.0.1:%d", free)) }()
	select {
	case err = <-token:
		if err == nil || ctx.Err() != nil || !soon(ended, &err) {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it holds nothing that could be lost
			<-ended
		}
	case err = <-ended:
		err = died(err)
		stop()
		<-token
	}
	if words := out.String(); err != nil && ctx.Err() == nil && words != "" {
		err = fmt.Errorf("%w; its last words: %s", err, words)
	}
	return err
}

// soon waits a moment for the end of a process whose connection broke: how it
// ended says more than that.
func soon(ended <-chan error, err *error) bool {
	late := time.NewTimer(time.Second)
	defer late.Stop()
	select {
	case how := <-ended:
		*err = died(how)
		return true
	case <-late.C:
		return false
	}
}

// died is why a process ended that should have served.
func died(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGILL {
			return fmt.Errorf("%w: %w", ErrCPU, err)
		}
	}
	if err == nil {
		err = errors.New("it ended by itself")
	}
	return fmt.Errorf("%w: %w", ErrDead, err)
}

// firstToken waits until a server has its model, and asks it for one token.
func firstToken(ctx context.Context, url string) error {
	for {
		status, _, err := ask(ctx, http.MethodGet, url+"/health", "")
		if err == nil && status == http.StatusOK {
			break
		}
		select { // refused, or 503 while it loads
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	status, body, err := ask(ctx, http.MethodPost, url+"/completion", `{"prompt":"Hello","n_predict":1,"temperature":0}`)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDead, err)
	}
	var answer struct {
		Predicted int `json:"tokens_predicted"`
	}
	if status != http.StatusOK || json.Unmarshal(body, &answer) != nil || answer.Predicted < 1 {
		return fmt.Errorf("%w: status %d: %.200s", ErrDead, status, body)
	}
	return nil
}

// ask makes one small request.
func ask(ctx context.Context, method, url, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, data, err
}

// tail keeps the last bytes that are written to it.
type tail struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write takes all.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if more := t.buf.Len() - 2048; more > 0 {
		t.buf.Next(more)
	}
	return len(p), nil
}

// String is the last line or two.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(t.buf.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-2):], " / ")
}
