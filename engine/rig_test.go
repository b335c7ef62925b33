package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/engine/sim"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

// childRole names what this binary does instead of testing.
const childRole = "DYN_TEST_CHILD"

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if len(os.Args) > 2 && os.Args[1] == "worker" && os.Args[2] == "keep" {
		role = "keeper"
	}
	if role == "" {
		os.Exit(m.Run())
	}
	if err := child(role, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func child(role string, args []string) error {
	switch role {
	case "sim":
		return sim.Run(context.Background(), args, os.Stdout, os.Stderr)
	case "fail":
		fmt.Println("loading the model\nValueError: no such block size\nmuch else")
		return errors.New("giving up")
	case "leaks":
		fmt.Println("my key is", os.Getenv("VLLM_API_KEY"), "and my token", os.Getenv("MY_TOKEN"), "and yours", os.Getenv("ANTHROPIC_API_KEY"))
		return errors.New("giving up")
	case "deaf": // says nothing, and does not mind SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("loading for ever")
		select {}
	case "old": // does not know a flag of today
		if i := slices.Index(args, "--generation-config"); i >= 0 {
			return fmt.Errorf("vllm serve: error: unrecognized arguments: %s %s", args[i], args[i+1])
		}
		return sim.Run(context.Background(), args, os.Stdout, os.Stderr)
	case "crowded":
		return crowded(args)
	case "hangs":
		return hangs(args)
	case "daemon":
		return daemon(args[0])
	case "keeper":
		return keep.Run(os.Stdin, func() bool { return true })
	case "keeping":
		return keeping(args[0])
	}
	return fmt.Errorf("no role %q", role)
}

// crowded is a sim whose port somebody else takes, in its first lives; each
// leaves a file.
func crowded(args []string) error {
	folder, lives := os.Getenv("DYN_TEST_FOLDER"), os.Getenv("DYN_TEST_LIVES")
	before, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(len(before))), nil, 0o600); err != nil {
		return err
	}
	if fmt.Sprint(len(before)) < lives {
		l, err := net.Listen("tcp", "127.0.0.1:"+args[slices.Index(args, "--port")+1])
		if err != nil {
			return err
		}
		defer l.Close()
	}
	return sim.Run(context.Background(), args, os.Stdout, os.Stderr)
}

// daemon runs a fleet until somebody kills it.
func daemon(dir string) error {
	f := engine.NewFleet(engine.Options{Logs: dir, Self: os.Args[0], Adapters: []engine.Adapter{vllm.Adapter{}}})
	os.Unsetenv(childRole)
	for range 2 {
		w, err := f.Start(context.Background(), engine.Spec{Recipe: recipe("sim")})
		if err != nil {
			return err
		}
		fmt.Println(w.Info().PID)
	}
	select {}
}

// recipe is the simulated engine's, run by this binary in some role.
func recipe(role string) *recipes.Recipe {
	r, err := recipes.Find("sim")
	if err != nil {
		panic(err)
	}
	r.Command = []string{"{self}"}
	r.Env = map[string]string{childRole: role}
	r.Flags["speed"] = "0"
	r.Flags["kv-tokens"] = "16000"
	r.Flags["max-model-len"] = "8192"
	r.Flags["shutdown-timeout"] = "false" // the fleet's patience counts
	return r
}

// rig is a fleet and all that it told.
type rig struct {
	*engine.Fleet
	mu     sync.Mutex
	events []string
	kv     map[string][]turn.KVEvent
}

func newRig(t *testing.T, o engine.Options) *rig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{kv: map[string][]turn.KVEvent{}}
	o.Logs, o.Self = cmp.Or(o.Logs, t.TempDir()), self
	if o.Adapters == nil {
		o.Adapters = []engine.Adapter{vllm.Adapter{}}
	}
	o.OnEvent = func(e engine.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e.Worker+" "+e.Kind)
	}
	o.OnKV = func(b turn.KVBatch) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.kv[b.Worker] = append(r.kv[b.Worker], b.Events...)
	}
	if o.Poll == 0 {
		o.Poll = 20 * time.Millisecond
	}
	r.Fleet = engine.NewFleet(o)
	t.Cleanup(func() { _ = r.Stop(context.Background(), 0) })
	return r
}

func (r *rig) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// first is a worker's first KV event.
func (r *rig) first(worker string) turn.KVEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kv[worker][0]
}

// seen counts a worker's KV events of a kind.
func (r *rig) seen(worker string, kind turn.KVKind) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.kv[worker] {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// start launches a sim, with a brain when one is given.
func (r *rig) start(t *testing.T, brain string) *engine.Worker {
	t.Helper()
	s := engine.Spec{Recipe: recipe("sim"), Flags: map[string]string{}}
	if brain != "" {
		path := filepath.Join(t.TempDir(), "brain.yaml")
		if err := os.WriteFile(path, []byte(brain), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Flags["brain"] = path
	}
	w, err := r.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// eventually polls until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if ok() {
			return
		}
		select {
		case <-t.Context().Done():
		case <-time.After(2 * time.Millisecond):
		}
	}
	t.Fatalf("never: %s", what)
}

// alive reports whether a process runs; a zombie that nobody reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func job(from, n int) turn.Job {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(300 + from + i)
	}
	return turn.Job{ID: "t0000000000000001", MaxTokens: 4000, Prompt: turn.IDsOf(ids...)}
}

// say runs a turn to its end and returns its text.
func say(t *testing.T, w *engine.Worker, j turn.Job) (string, *turn.End, error) {
	t.Helper()
	s, err := w.Generate(t.Context(), j)
	if err != nil {
		return "", nil, err
	}
	defer s.Close()
	var text strings.Builder
	for {
		d, err := s.Next()
		if err != nil {
			return text.String(), nil, err
		}
		text.WriteString(d.Text)
		if d.End != nil {
			return text.String(), d.End, nil
		}
	}
}
