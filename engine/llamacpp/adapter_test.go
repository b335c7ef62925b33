package llamacpp

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/recipes"
)

// folder makes a folder with files of these names.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func recipe() *recipes.Recipe {
	return &recipes.Recipe{
		Name: "r", Model: "small", Engine: "llamacpp", Command: []string{"{engine}"}, Context: 8192,
		Env: map[string]string{"B": "2", "A": "1"},
	}
}

// flag is what stands behind a flag, "-" where it is not there.
func flag(args []string, name string) string {
	i := slices.Index(args, "--"+name)
	switch {
	case i < 0:
		return "-"
	case i+1 == len(args), strings.HasPrefix(args[i+1], "--"):
		return ""
	}
	return args[i+1]
}

func TestLaunch(t *testing.T) {
	dir := folder(t, "model.gguf")
	s := engine.Spec{Recipe: recipe(), ModelDir: dir, Program: []string{"/opt/llama-server"}, Env: []string{"LD_PRELOAD=x.so"}, GPUs: []int{1, 2}}
	at := engine.Place{Port: 8101, Key: "secret", Dir: "/run/w0"}
	l, err := Adapter{}.Launch(s, at)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"model": filepath.Join(dir, "model.gguf"), "alias": "small", "host": "127.0.0.1", "port": "8101",
		"parallel": "2", "ctx-size": "16384", "batch-size": "512", "ubatch-size": "512", "slot-prompt-similarity": "0.9",
		"slot-save-path": "/run/w0/", "metrics": "", "slots": "", "jinja": "", "no-webui": "", "offline": "",
		"temp": "1", "top-k": "0", "top-p": "1", "min-p": "0",
		"props":   "-", // what could change them is not opened
		"api-key": "-", "kv-unified": "-",
	} {
		if got := flag(l.Args, name); got != want {
			t.Errorf("--%s is %q, want %q", name, got, want)
		}
	}
	if l.Args[0] != "/opt/llama-server" || strings.Contains(strings.Join(l.Args, " "), "secret") {
		t.Errorf("args are %q", l.Args)
	}
	want := []string{
		"LLAMA_API_KEY=secret", "LD_PRELOAD=x.so", "A=1", "B=2", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=1,2",
	}
	if !slices.Equal(l.Env, want) {
		t.Errorf("env is %q", l.Env)
	}
	if l.TermWait != 2*time.Second || l.Known.MaxBatched != 512 {
		t.Errorf("launch is %+v", l)
	}
	if n := engine.Number(flag(l.Args, "threads")); n < 1 || n > runtime.NumCPU() {
		t.Errorf("%d threads", n)
	}
	if again, _ := (Adapter{}).Launch(s, at); !reflect.DeepEqual(again, l) {
		t.Error("the same launch is another one")
	}
}

// Settings of dyn's have vLLM's names, and a recipe's flags go over ours.
func TestLaunchTranslates(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags map[string]string
		want  map[string]string
	}{
		{"context and turns", map[string]string{"max-model-len": "4096", "max-num-seqs": "3"}, map[string]string{"ctx-size": "12288", "parallel": "3"}},
		{"batch", map[string]string{"max-num-batched-tokens": "256"}, map[string]string{"batch-size": "256", "ubatch-size": "256"}},
		{"no flags of ours", map[string]string{"block-size": "32", "shutdown-timeout": "9"}, map[string]string{"block-size": "-", "shutdown-timeout": "-"}},
		{"its own", map[string]string{"ctx-size": "5000", "cache-ram": "0", "metrics": "false"}, map[string]string{"ctx-size": "5000", "cache-ram": "0", "metrics": "-"}},
		{"shared", map[string]string{"kv-unified": "true"}, map[string]string{"ctx-size": "8192"}},
		{"its own, and ours over it", map[string]string{"ctx-size": "5000", "max-model-len": "1000"}, map[string]string{"ctx-size": "2000"}},
		{"a key", map[string]string{"api-key": "k"}, map[string]string{"api-key": "-"}},
	} {
		l, err := Adapter{}.Launch(engine.Spec{Recipe: recipe(), ModelDir: folder(t, "m.gguf"), Flags: c.flags}, engine.Place{})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.want {
			if got := flag(l.Args, name); got != want {
				t.Errorf("%s: --%s is %q, want %q", c.name, name, got, want)
			}
		}
	}
}

func TestModelFile(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string // "" is an error
		words string
	}{
		{[]string{"a.gguf", "README.md"}, "a.gguf", ""},
		{[]string{"a.GGUF", "mmproj-a.gguf"}, "a.GGUF", ""},
		{[]string{"a-00001-of-00003.gguf", "a-00002-of-00003.gguf", "a-00003-of-00003.gguf"}, "a-00001-of-00003.gguf", ""},
		{[]string{"config.json"}, "", "no .gguf file"},
		{[]string{"a.gguf", "b.gguf"}, "", "name one of a.gguf, b.gguf"},
	} {
		dir := folder(t, c.files...)
		got, err := modelFile(dir)
		if c.want == "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("%q: %q, %v", c.files, got, err)
		}
		if c.want != "" && (err != nil || got != filepath.Join(dir, c.want)) {
			t.Errorf("%q: %q, %v", c.files, got, err)
		}
	}
	for path, words := range map[string]string{"": "--model-dir", "/no/such/file.gguf": "no such file"} {
		if _, err := modelFile(path); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", path, err)
		}
	}
	file := filepath.Join(folder(t, "x.gguf", "y.gguf"), "y.gguf")
	if got, err := modelFile(file); err != nil || got != file {
		t.Errorf("%q, %v", got, err)
	}
}

// Servers beside each other share the machine: what one of them may save is a
// part of what its model leaves.
func TestSavedRoom(t *testing.T) {
	for _, c := range []struct{ memory, weights, workers, want int }{
		{24_000, 0, 1, 6000},
		{24_000, 0, 0, 6000},
		{24_000, 4000, 1, 5000},
		{24_000, 4000, 2, 2500},
		{24_000, 4000, 4, 1250},
		{264_000, 4000, 4, savedMost},
		{264_000, 4000, 16, 4062},
		{24_000, 30_000, 1, savedFloor},
		{24_000, 4000, 64, savedFloor},
		{0, 4000, 2, savedUnknown},
	} {
		if got := savedRoom(c.memory, c.weights, c.workers); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestThreads(t *testing.T) {
	for _, c := range []struct{ cores, workers, want int }{{16, 1, 8}, {16, 2, 7}, {16, 3, 5}, {2, 2, 1}, {1, 1, 1}, {8, 0, 4}, {4, 9, 1}} {
		if got := threads(c.cores, c.workers); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// The launch heeds both: of the file, and of who is beside it.
func TestLaunchShares(t *testing.T) {
	room := func(workers int, bytes int64, flags map[string]string) int {
		dir := folder(t, "a-1-of-2.gguf", "a-2-of-2.gguf", "b.txt")
		for _, name := range []string{"a-1-of-2.gguf", "a-2-of-2.gguf"} {
			if err := os.Truncate(filepath.Join(dir, name), bytes); err != nil {
				t.Fatal(err)
			}
		}
		l, err := Adapter{}.Launch(engine.Spec{Recipe: recipe(), ModelDir: dir, Flags: flags, Workers: workers}, engine.Place{})
		if err != nil {
			t.Fatal(err)
		}
		return engine.Number(flag(l.Args, "cache-ram"))
	}
	memory := machineMemory()
	if memory == 0 {
		t.Skip("this machine does not tell its memory")
	}
	if got, want := room(3, 1<<30, nil), savedRoom(memory, 2048, 3); got != want {
		t.Errorf("three workers of 2 GiB: %d, want %d", got, want)
	}
	if got := room(3, 1<<30, map[string]string{"cache-ram": "77"}); got != 77 {
		t.Errorf("what was asked for is %d", got)
	}
	if got := room(3, 1<<30, map[string]string{"cache-ram": "false"}); got != 0 {
		t.Errorf("what was taken away is %d", got)
	}
}

func TestReadRules(t *testing.T) {
	for _, c := range []struct {
		args string
		want rules // but told
	}{
		{"", rules{similarity: 0.1, saving: true, room: 8192 << 20, sweeping: false, perToken: usualPerToken}},
		{"x --cache-ram 0 -sps 0.9", rules{similarity: 0.9, saving: false, room: 0, sweeping: false, perToken: usualPerToken}},
		{"x --cache-ram=16 --slot-prompt-similarity=0", rules{similarity: 0, saving: true, room: 16 << 20, sweeping: false, perToken: usualPerToken}},
		{"x -cram -1 -kvu", rules{similarity: 0.1, saving: true, room: 0, sweeping: true, perToken: usualPerToken}},
		{"x --kv-unified --no-cache-idle-slots", rules{similarity: 0.1, saving: true, room: 8192 << 20, sweeping: false, perToken: usualPerToken}},
		{"x --cache-ram", rules{similarity: 0.1, saving: true, room: 8192 << 20, sweeping: false, perToken: usualPerToken}},
	} {
		args := strings.Fields(c.args)
		if c.want.told = true; len(args) == 0 {
			args, c.want.told = nil, false
		}
		if got := readRules(args); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.args, got, c.want)
		}
	}
}
