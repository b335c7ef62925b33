package vllm

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/recipes"
)

func simulated(t *testing.T) *recipes.Recipe {
	t.Helper()
	r, err := recipes.Find("sim")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// launch makes the launch of a real server, with one of its settings changed.
func launch(t *testing.T, change func(*engine.Spec, *engine.Place)) (engine.Launch, error) {
	t.Helper()
	s := engine.Spec{
		Recipe: &recipes.Recipe{
			Name: "m", Model: "org/m", Engine: "vllm", Command: []string{"{engine}", "serve", "{model_dir}"}, ModelDir: "/models/m",
			Flags: map[string]string{"max-num-seqs": "4"}, Env: map[string]string{},
		},
		Program: []string{"/opt/python", "-m", "vllm"},
	}
	at := engine.Place{Self: "/bin/dyn", Port: 8101, Key: "secret-key", Events: "tcp://127.0.0.1:7001"}
	change(&s, &at)
	return Adapter{}.Launch(s, at)
}

func TestLaunch(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.Spec, *engine.Place)
		have   []string // in the command line
		lack   []string
		env    []string
		noEnv  []string
		term   time.Duration
	}{
		{
			"plain", func(*engine.Spec, *engine.Place) {},
			[]string{
				"/opt/python -m vllm serve /models/m --", "--host 127.0.0.1", "--port 8101", "--served-model-name org/m",
				"--scheduling-policy priority", "--enable-prompt-tokens-details", "--enable-request-id-headers", "--generation-config vllm",
				"--max-num-queued-reqs 8", "--shutdown-timeout 5", `"endpoint":"tcp://127.0.0.1:7001"`, `"replay_endpoint":"tcp://*:0"`,
			},
			[]string{"secret-key", "api-key", "trust-remote-code", "{"},
			[]string{
				"VLLM_API_KEY=secret-key", "PYTHONHASHSEED=0", "VLLM_HOST_IP=127.0.0.1", "VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES=1",
				"VLLM_HTTP_TIMEOUT_KEEP_ALIVE=60", "VLLM_NO_USAGE_STATS=1",
			},
			[]string{"VLLM_SERVER_DEV_MODE", "CUDA_", "VLLM_CPU_", "TORCH_COMPILE_DISABLE"},
			7 * time.Second,
		},
		{
			"nobody listens for events", func(_ *engine.Spec, at *engine.Place) { at.Events = "" },
			[]string{`"endpoint":"tcp://*:0"`},
			nil, nil, nil, 7 * time.Second,
		},
		{
			"the recipe goes over ours, the user over the recipe", func(s *engine.Spec, _ *engine.Place) {
				s.Recipe.Flags["shutdown-timeout"] = "30"
				s.Recipe.Flags["generation-config"] = "auto"
				s.Recipe.Flags["kv-events-config"] = "false"
				s.Recipe.Flags["api-key"] = "in the recipe"
				s.Flags = map[string]string{"max-num-queued-reqs": "99", "generation-config": "false", "host": "0.0.0.0"}
			},
			[]string{"--shutdown-timeout 30", "--max-num-queued-reqs 99", "--host 127.0.0.1"},
			[]string{"generation-config", "kv-events-config", "api-key", "in the recipe"},
			nil, nil, 32 * time.Second,
		},
		{
			"no limits", func(s *engine.Spec, _ *engine.Place) {
				s.Flags = map[string]string{"max-num-queued-reqs": "false", "shutdown-timeout": "false"}
			},
			nil,
			[]string{"max-num-queued-reqs", "shutdown-timeout"},
			nil, nil, 0,
		},
		{
			"its number of turns is not known", func(s *engine.Spec, _ *engine.Place) { delete(s.Recipe.Flags, "max-num-seqs") },
			nil,
			[]string{"max-num-queued-reqs"},
			nil, nil, 7 * time.Second,
		},
		{
			"GPUs", func(s *engine.Spec, _ *engine.Place) { s.GPUs = []int{0, 2} },
			nil, nil,
			[]string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=0,2"},
			nil, 7 * time.Second,
		},
		{
			"CPU", func(s *engine.Spec, _ *engine.Place) {
				s.Env = []string{"VLLM_CPU_KVCACHE_SPACE=3"}
				s.Recipe.Flags["block-size"] = "64"
			},
			[]string{"--block-size 64"},
			nil,
			[]string{"TORCH_COMPILE_DISABLE=1", "VLLM_CPU_KVCACHE_SPACE=3"},
			nil, 7 * time.Second,
		},
		{
			"CPU by the recipe", func(s *engine.Spec, _ *engine.Place) { s.Recipe.Env["VLLM_CPU_OMP_THREADS_BIND"] = "0-3" },
			nil, nil,
			[]string{
				"TORCH_COMPILE_DISABLE=1", "VLLM_CPU_KVCACHE_SPACE=1", "VLLM_CPU_KVCACHE_SPACE={env.VLLM_CPU_KVCACHE_SPACE}", "VLLM_CPU_OMP_THREADS_BIND=0-3",
			},
			nil, 7 * time.Second,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := launch(t, c.change)
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Join(l.Args, " ")
			for _, want := range c.have {
				if !strings.Contains(line, want) {
					t.Errorf("%q is missing in %s", want, line)
				}
			}
			for _, none := range c.lack {
				if strings.Contains(strings.ReplaceAll(line, `{"enable_kv_cache_events"`, ""), none) {
					t.Errorf("%q is in %s", none, line)
				}
			}
			for _, want := range c.env {
				if !slices.Contains(l.Env, want) {
					t.Errorf("%q is missing in %v", want, l.Env)
				}
			}
			for _, none := range c.noEnv {
				if slices.ContainsFunc(l.Env, func(e string) bool { return strings.HasPrefix(e, none) }) {
					t.Errorf("%q is in %v", none, l.Env)
				}
			}
			if l.TermWait != c.term {
				t.Errorf("SIGKILL comes after %v, want %v", l.TermWait, c.term)
			}
		})
	}
}

// The engine keeps idle connections for longer than we do: else a request may
// meet a connection that is just being closed.
func TestKeepAlive(t *testing.T) {
	l, err := launch(t, func(*engine.Spec, *engine.Place) {})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(l.Env, func(e string) bool { return strings.HasPrefix(e, "VLLM_HTTP_TIMEOUT_KEEP_ALIVE=") })
	if i < 0 {
		t.Fatalf("environment is %v", l.Env)
	}
	_, seconds, _ := strings.Cut(l.Env[i], "=")
	if theirs, err := time.ParseDuration(seconds + "s"); err != nil || theirs <= remote.IdleLimit || remote.IdleLimit >= 5*time.Second {
		t.Errorf("they keep it for %v, by themselves for 5 s, we for %v", theirs, remote.IdleLimit)
	}
}

// On a CPU a block size that vLLM dies of a minute later is refused at once.
func TestBlockSizeOnCPU(t *testing.T) {
	for size, ok := range map[string]bool{"": true, "16": false, "32": true, "48": false, "128": true, "x": true} {
		_, err := launch(t, func(s *engine.Spec, _ *engine.Place) {
			s.Recipe.Env["VLLM_CPU_KVCACHE_SPACE"] = "1"
			s.Recipe.Flags["block-size"] = size
		})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "multiples of 32") {
			t.Errorf("%q: %v", size, err)
		}
	}
	if _, err := launch(t, func(s *engine.Spec, _ *engine.Place) { s.Recipe.Flags["block-size"] = "16" }); err != nil {
		t.Errorf("elsewhere 16 is well: %v", err)
	}
}

func TestLaunchSimulated(t *testing.T) {
	l, err := Adapter{}.Launch(engine.Spec{
		Recipe: simulated(t), Flags: map[string]string{"speed": "0", "enable-request-id-headers": "false", "max-num-seqs": "4"},
	}, engine.Place{Self: "/bin/dyn", Port: 8101, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(l.Args, " ")
	if !strings.HasPrefix(line, "/bin/dyn worker sim --") || !strings.Contains(line, "--speed 0") || !strings.Contains(line, "--max-model-len 262144") {
		t.Errorf("command line is %s", line)
	}
	for _, none := range []string{"request-id", "model-dir", "speed 1"} {
		if strings.Contains(line, none) {
			t.Errorf("%q is in %s", none, line)
		}
	}
	if l.Known.MaxSeqs != 4 || !l.Known.Priority || l.Known.Context != 262144 || l.Known.MaxBatched != 8192 {
		t.Errorf("known is %+v", l.Known)
	}
}
