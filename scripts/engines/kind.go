package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// kind is an engine, and what the scenes must know of it.
type kind struct {
	name, title string
	model       string // that clients name
	context     int    // tokens of a turn
	block       int    // tokens of a block of its cache
	quiet       bool   // it is asked nothing while it is timed
	names       counterNames
	suite       string // what the conformance suite must know, as DYN_ENGINES has it
	recipe      func(ctx context.Context, l *lab) (string, error)
}

// counterNames are the engine's names of what a counters has.
type counterNames struct{ running, waiting, computed, cached, output string }

var kinds = []*kind{
	{
		name: "llamacpp", title: "llama.cpp", model: "tiny", context: 8192, block: 16, quiet: true,
		names: counterNames{
			"llamacpp:requests_processing", "llamacpp:requests_deferred", "llamacpp:prompt_tokens_total",
			"llamacpp:prompt_tokens_cached_total", "llamacpp:tokens_predicted_total",
		},
		suite:  ",salt", // a server that others have used before does not tell whose a state is
		recipe: func(context.Context, *lab) (string, error) { return "tiny", nil },
	},
	{
		name: "vllm", title: "vLLM", model: "smol", context: 4096, block: 32,
		names: counterNames{
			"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:prompt_tokens_by_source_total local_compute",
			"vllm:prefix_cache_hits_total", "vllm:generation_tokens_total",
		},
		suite: ",slots=2", recipe: vllmRecipe,
	},
}

func kindOf(name string) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// install installs the engine, if that was not done in a run before, and
// prepares the model.
func (k *kind) install(ctx context.Context, l *lab, s *sheet) error {
	var done struct {
		State   string
		Version string
		Variant string
		Bytes   int64
		MS      float64
	}
	began := time.Now()
	out, err := l.dyn(ctx, "engine", "install", k.name, "--json")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &done); err != nil {
		return fmt.Errorf("dyn engine install: %w", err)
	}
	l.version = done.Version
	s.versions = append(s.versions, fmt.Sprintf("%s %s, %s", k.title, done.Version, done.Variant))
	if done.State == "installed" {
		s.check(k.name, "`dyn engine install`", true, "%.0f s, %.2f GB on disk", time.Since(began).Seconds(), float64(done.Bytes)/1e9)
	} else {
		s.note(k.name, "`dyn engine install`", "installed by a run before, %.2f GB on disk", float64(done.Bytes)/1e9)
	}
	if l.recipe, err = k.recipe(ctx, l); err != nil {
		return fmt.Errorf("prepare the model: %w", err)
	}
	return nil
}

// vllmRecipe writes the recipe of a small model's weights, which are made of
// the file that llama.cpp has. More requests may wait in the engine than dyn
// would let, because the suite of all adapters sends many at once.
func vllmRecipe(ctx context.Context, l *lab) (string, error) {
	model := filepath.Join(l.o.work, "smol")
	if _, err := os.Stat(filepath.Join(model, "tokenizer.json")); err != nil {
		if err := convert(ctx, l, model); err != nil {
			return "", err
		}
	}
	path := filepath.Join(l.o.work, "smol.yaml")
	text := fmt.Sprintf(`name: smol
description: SmolLM2 135M on vLLM for CPUs
model: smol
engine: vllm
command: ["{engine}", "serve", "{model_dir}"]
model_dir: %q
context: 4096
parsers:
  tools: hermes
env:
  HF_HUB_OFFLINE: "1"
  OMP_NUM_THREADS: "1"
  VLLM_CPU_KVCACHE_SPACE: "1"
flags:
  enforce-eager: "true"
  max-model-len: "4096"
  block-size: "32"
  max-num-seqs: "2"
  max-num-queued-reqs: "32"
`, model)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// errAbsent is in the chain where something is not here that is not published.
var errAbsent = errors.New("not here")

// convert makes weights for vLLM, with the Python and the packages that were
// installed for it.
func convert(ctx context.Context, l *lab, model string) error {
	script := filepath.Join(l.o.fixtures, "engines/vllm/gguf_to_safetensors.py")
	if _, err := os.Stat(script); err != nil {
		return fmt.Errorf("%w: %s, which makes vLLM's weights; -fixtures says where", errAbsent, script)
	}
	gguf, err := l.gguf(ctx)
	if err != nil {
		return err
	}
	python, err := l.python(ctx)
	if err != nil {
		return err
	}
	tools, extra := filepath.Join(l.o.work, "tools"), filepath.Join(l.o.work, "gguf")
	for _, words := range [][]string{
		{"python3", "-m", "venv", tools},
		{filepath.Join(tools, "bin/pip"), "install", "--quiet", "--no-deps", "--target", extra, "gguf==0.19.0"},
	} {
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, tail(out))
		}
	}
	half := model + ".half"
	run := exec.CommandContext(ctx, python, script, gguf, half)
	run.Env = append(os.Environ(), "PYTHONPATH="+extra, "HF_HUB_OFFLINE=1")
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(script), err, tail(out))
	}
	return os.Rename(half, model)
}

// tail is the end of a program's words.
func tail(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[max(len(text)-600, 0):]
}
