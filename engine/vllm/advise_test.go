package vllm

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAdvise(t *testing.T) {
	for _, c := range []struct {
		name, line, try string
		without         []string
	}{
		{"nothing known", "Segmentation fault", "", nil},
		{
			"ours and not ours", "vllm serve: error: unrecognized arguments: --generation-config vllm --max-num-queued-reqs=8 --block-sice 16",
			"--block-sice",
			[]string{"generation-config", "max-num-queued-reqs"},
		},
		{"values only", "unrecognized arguments: a b", "", nil},
		{"memory", "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`", "gpu-memory-utilization", nil},
		{"metadata", "importlib.metadata.PackageNotFoundError: No package metadata was found for vllm", "dyn engine install vllm", nil},
		{"compiler", "torch._inductor.exc.InductorError: InvalidCxxCompiler: no working C++ compiler found", "TORCH_COMPILE_DISABLE", nil},
	} {
		got := Adapter{}.Advise([]string{"INFO starting", c.line, "much else"})
		if !strings.Contains(got.Try, c.try) || (c.try == "") != (got.Try == "") || !slices.Equal(got.Without, c.without) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestRecordedStartFailure(t *testing.T) {
	f, err := os.Open(filepath.Join(fixtures(t), "log-start-failure.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	if got := (Adapter{}).Advise(lines); !strings.Contains(got.Try, "multiple of 32") {
		t.Errorf("advice is %+v", got)
	}
}
