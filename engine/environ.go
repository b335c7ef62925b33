package engine

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine/secret"
)

// passes are the names of this process's environment that engines see, and
// beginnings of such names. It is a list of what is let through, because what
// must not be seen has no end: keys of clouds, of agents, of the user's shell.
var (
	passes = []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "TERM",
		"LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "GOCOVERDIR", "GOMAXPROCS",
	}
	passing = []string{
		"LC_", "XDG_", "CUDA_", "NVIDIA_", "NCCL_", "HIP_", "ROCR_", "ROCM_", "HSA_", "MIOPEN_", "ZE_", "ONEAPI_", "SYCL_",
		"GGML_", "OMP_", "KMP_", "MKL_", "OPENBLAS_", "GLOO_", "UCX_", "TORCH_", "TORCHINDUCTOR_", "PYTORCH_", "TRITON_",
		"VLLM_", "SGLANG_", "SGL_", "TRTLLM_", "TLLM_", "HF_", "HUGGINGFACE_", "TRANSFORMERS_",
	}
)

// opens are those of them that open an engine up or have it write down what
// clients are told.
var opens = []string{
	"VLLM_SERVER_DEV_MODE", "VLLM_ALLOW_RUNTIME_LORA_UPDATING", "VLLM_ALLOW_INSECURE_SERIALIZATION", "VLLM_PLUGINS",
	"VLLM_DEBUG_LOG_API_SERVER_RESPONSE",
}

// environment is what an engine sees: what is let through of ours, and over it
// what was added for it. An added value {env.NAME} is the one that NAME has in
// ours, let through or not, so that a recipe can ask for a secret by name;
// where it is not set the entry is left out.
func environment(ours, added []string) []string {
	var out []string
	for _, entry := range ours {
		if name, _, ok := strings.Cut(entry, "="); ok && lets(name) {
			out = set(out, entry)
		}
	}
	for _, entry := range added {
		name, value, _ := strings.Cut(entry, "=")
		if from, asks := asked(value); !asks {
			out = set(out, entry)
		} else if value, ok := lookup(ours, from); ok {
			out = set(out, name+"="+value)
		}
	}
	return out
}

// asked is the name in {env.NAME}.
func asked(value string) (name string, ok bool) {
	name, begins := strings.CutPrefix(value, "{env.")
	name, ends := strings.CutSuffix(name, "}")
	return name, begins && ends
}

// lookup is the value of an entry.
func lookup(env []string, name string) (string, bool) {
	for _, entry := range env {
		if had, value, _ := strings.Cut(entry, "="); had == name {
			return value, true
		}
	}
	return "", false
}

// given are the values that were asked for by name.
func given(ours, added []string) (all []string) {
	for _, entry := range added {
		_, value, _ := strings.Cut(entry, "=")
		if from, ok := asked(value); ok {
			value, _ = lookup(ours, from)
			all = append(all, value)
		}
	}
	return all
}

// lets reports whether engines see our entry of that name.
func lets(name string) bool {
	if slices.Contains(passes, name) {
		return true
	}
	begins := func(start string) bool { return strings.HasPrefix(name, start) }
	return slices.ContainsFunc(passing, begins) && !slices.Contains(opens, name) && !secret.Named(name)
}

// set adds an entry, in place of an earlier one of its name.
func set(env []string, entry string) []string {
	name, _, _ := strings.Cut(entry, "=")
	for i, e := range env {
		if strings.HasPrefix(e, name+"=") {
			env[i] = entry
			return env
		}
	}
	return append(env, entry)
}
