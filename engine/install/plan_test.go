package install

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// linux is a machine with all that there can be but GPUs.
var linux = Host{OS: "linux", Arch: "amd64", UV: "/bin/uv", Python: "/bin/python3", Minor: 11, Free: 100 << 30}

func lines(p Plan) string {
	var all []string
	for _, s := range p.Steps {
		all = append(all, s.Stage+": "+strings.Join(s.Command, " ")+s.Path)
	}
	return strings.Join(all, "\n")
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name, engine string
		want         Want
		change       func(*Host)
		variant      string
		has          []string
		lacks        []string
	}{
		{
			"vllm with uv", "vllm",
			Want{},
			func(*Host) {}, "cpu",
			[]string{
				"environment: /bin/uv venv --no-project --allow-existing --python >=3.11,<3.15 {env}", "packages: {env}/packages.txt",
				"packages: /bin/uv pip install --python {env}/bin/python --only-binary :all: --no-deps -r {env}/packages.txt",
				"files: {site}/torch/lib/libcudnn.so.9", "files: {site}/vllm-0.32.0+cpu.dist-info/METADATA", "files: {site}/lazy_dlopen.pth",
			},
			nil,
		},
		{
			"vllm with pip", "vllm",
			Want{},
			func(h *Host) { h.UV = "" }, "cpu",
			[]string{"environment: /bin/python3 -m venv {env}", "packages: {env}/bin/python -m pip install", ":all: --no-deps -r {env}/packages.txt"},
			[]string{"uv"},
		},
		{
			"vllm with a GPU", "vllm",
			Want{},
			func(h *Host) { h.GPUs = 2 }, "cuda",
			[]string{"--only-binary :all: -r"},
			[]string{"dist-info", "--no-deps"},
		},
		{"a variant", "vllm", Want{Variant: "cpu"}, func(h *Host) { h.GPUs = 2 }, "cpu", []string{"--no-deps"}, nil},
		{
			"llamacpp from copied packages", "llamacpp",
			Want{Wheels: "/w"},
			func(h *Host) { h.UV = "" }, "cpu",
			[]string{"--no-deps --no-index --find-links /w -r {env}/packages.txt", "libraries: ln -sf"},
			[]string{"override"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := linux
			c.change(&h)
			p, err := NewPlan("/s", c.engine, c.want, h)
			if err != nil || p.Variant != c.variant || p.Steps[len(p.Steps)-1].Stage != "check" {
				t.Fatalf("variant %q, want %q: %v", p.Variant, c.variant, err)
			}
			text := lines(p)
			for _, want := range c.has {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range c.lacks {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
		})
	}
}

func TestNoPlan(t *testing.T) {
	for _, c := range []struct {
		name, engine string
		want         Want
		change       func(*Host)
		err          error
		says         string
	}{
		{"no such engine", "ollama", Want{}, func(*Host) {}, ErrUnknown, "no such engine"},
		{"no such variant", "vllm", Want{Variant: "rocm"}, func(*Host) {}, ErrNoBuild, "there are: cuda, cpu"},
		{"no GPU", "vllm", Want{Variant: "cuda"}, func(*Host) {}, ErrNoBuild, "wants an NVIDIA driver"},
		{"another machine", "llamacpp", Want{}, func(h *Host) { h.Arch = "arm64" }, ErrNoBuild, "for linux/amd64, this is linux/arm64"},
		{"no Python", "llamacpp", Want{}, func(h *Host) { h.UV, h.Python = "", "" }, ErrNoPython, "there is no python3"},
		{"an old Python", "vllm", Want{}, func(h *Host) { h.UV, h.Minor = "", 8 }, ErrNoPython, "is 3.8, it takes 3.11 to 3.14"},
		{"no room", "vllm", Want{}, func(h *Host) { h.Free = 1 << 30 }, ErrNoRoom, "1.1 GB are free"},
	} {
		h := linux
		c.change(&h)
		_, err := NewPlan("/s", c.engine, c.want, h)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) || faultOf(t, err).Try == "" {
			t.Errorf("%s: %v, want %v with %q and advice", c.name, err, c.err, c.says)
		}
	}
}

// Where nobody knows how much is free, nothing is refused.
func TestPlanUnknownRoom(t *testing.T) {
	h := linux
	h.Free = -1
	if _, err := NewPlan("/s", "vllm", Want{}, h); err != nil {
		t.Error(err)
	}
}

func TestCatalog(t *testing.T) {
	if !slices.IsSorted(Names()) {
		t.Errorf("%v is not sorted", Names())
	}
	dirs := map[string]bool{}
	for _, e := range Catalog() {
		for _, b := range e.builds {
			if len(b.packages) == 0 {
				t.Errorf("%s %s: no packages", e.Name, b.variant)
			}
			for _, name := range b.packages {
				if !strings.Contains(name, "==") {
					t.Errorf("%s %s: %s has no version", e.Name, b.variant, name)
				}
			}
			h := linux
			h.GPUs = 1
			p, err := NewPlan("/s", e.Name, Want{Variant: b.variant}, h)
			if err != nil || dirs[p.Dir] {
				t.Errorf("%s %s: %v, or its folder %s is another's too", e.Name, b.variant, err, p.Dir)
			}
			dirs[p.Dir] = true
		}
	}
}
