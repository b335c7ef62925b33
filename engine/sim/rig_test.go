package sim

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentinfer/dyn/engine/sim/brain"
)

// fixtures returns a folder of the recordings, or skips the test.
func fixtures(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		at, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for ; filepath.Dir(at) != at; at = filepath.Dir(at) {
			if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
				break
			}
		}
		dir = filepath.Join(at, "..", "shared", "fixtures")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings at %s; set DYN_FIXTURES", dir)
	}
	return dir
}

// qwen is the recorded server's model folder, read once.
func qwen(t *testing.T) *folder {
	t.Helper()
	src, templates := fixtures(t, "tokenizers/qwen3"), fixtures(t, "templates")
	qwenOnce.Do(func() {
		fsys := fstest.MapFS{
			"config.json":            {Data: []byte(`{"vocab_size":151680,"max_position_embeddings":4096}`)},
			"generation_config.json": {Data: []byte(`{"eos_token_id":[151645,151643]}`)},
		}
		for _, name := range []string{"tokenizer.json", "tokenizer_config.json"} {
			fsys[name] = &fstest.MapFile{Data: unzip(t, filepath.Join(src, name+".gz"))}
		}
		text, err := os.ReadFile(filepath.Join(templates, "dj-Qwen-Qwen3-0.6B.jinja"))
		if err != nil {
			t.Fatal(err)
		}
		fsys["chat_template.jinja"] = &fstest.MapFile{Data: text}
		f, err := readFolder(fsys)
		if err != nil {
			t.Fatal(err)
		}
		f.root, f.fsys = "/models/qwen3", fsys
		qwenFolder = f
	})
	if qwenFolder == nil {
		t.Fatal("the recorded server's tokenizer could not be read")
	}
	return qwenFolder
}

var (
	qwenOnce   sync.Once
	qwenFolder *folder
)

func unzip(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rig is a server that runs inside the test.
type rig struct {
	*server
	t       *testing.T
	addr    string
	signals chan os.Signal
	done    chan error
	script  script
}

// script is a brain that the test holds in its hand.
type script struct {
	mu sync.Mutex
	a  brain.Answer
}

func (s *script) Answer([]uint32) brain.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.a
}

func (s *script) say(a brain.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.a = a
}

// start runs a server with these flags on a model folder, nil being ours, in
// developer mode and with the rig's own script.
func start(t *testing.T, f *folder, flags ...string) *rig {
	t.Helper()
	return startWith(t, f, func(*server) {}, flags...)
}

// startWith is start, with a last change to the server.
func startWith(t *testing.T, f *folder, change func(*server), flags ...string) *rig {
	t.Helper()
	o, err := parse(append([]string{"--speed", "0"}, flags...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		if f, err = open(""); err != nil {
			t.Fatal(err)
		}
	}
	s, err := assemble(o, f)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{server: s, t: t, addr: l.Addr().String(), signals: make(chan os.Signal, 2), done: make(chan error, 1)}
	s.dev, s.thinker = true, &r.script
	s.crash = func() { t.Error("the server crashed") }
	change(s)
	go func() { r.done <- s.serve(context.Background(), l, r.signals) }()
	t.Cleanup(func() {
		r.signals <- os.Interrupt
		r.signals <- os.Interrupt
		r.wait()
	})
	return r
}

// wait waits for the server to end and returns what it said.
func (r *rig) wait() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		r.done <- err
		return err
	case <-time.After(time.Minute):
		r.t.Fatal("the server does not end")
		return nil
	}
}

// until polls a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		pause := time.NewTimer(time.Millisecond)
		<-pause.C
	}
}
