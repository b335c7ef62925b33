package install

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// Host is what matters of a machine. Look makes one of this machine.
type Host struct {
	OS, Arch string
	UV       string // path of uv; "" when there is none
	Python   string // path of python3; "" when there is none
	Minor    int    // its version is 3.Minor
	GPUs     int
	Free     int64 // bytes that may be written below the store; -1 unknown
}

// Want is what the user asks for. The zero value is what fits the machine,
// from the index.
type Want struct {
	Variant string // of the engine's variants
	Wheels  string // folder of packages, in place of an index
}

// Plan is one installation, worked out before anything is done.
type Plan struct {
	Engine   string `json:"engine"`
	Title    string `json:"title"`
	Variant  string `json:"variant"`
	Version  string `json:"version"`
	Tried    bool   `json:"tried"` // false: nobody has run this variant
	Dir      string `json:"dir"`   // where it will be
	Download int64  `json:"download_bytes"`
	Disk     int64  `json:"disk_bytes"`
	Steps    []Step `json:"steps"`

	build build
	want  Want
	host  Host
}

// Step is a command to run, or a file to write. {env} stands for the
// environment's folder and {site} for that of its packages, which has its name
// only when the environment is there.
type Step struct {
	Stage   string   `json:"stage"` // environment, packages, libraries, files, check
	Command []string `json:"command,omitempty"`
	Path    string   `json:"path,omitempty"`
	text    string   // of the file
}

// NewPlan works out how an engine is put below a store's folder. It is pure.
// The error is a *turn.Fault: no such engine or variant, none for this
// machine, no Python, no room.
func NewPlan(dir, engine string, w Want, h Host) (Plan, error) {
	op := "install " + engine
	e, ok := Known(engine)
	if !ok {
		return Plan{}, unknown(op)
	}
	b, err := e.pick(w.Variant, h)
	if err != nil {
		return Plan{}, &turn.Fault{
			Op: op, Err: fmt.Errorf("%w: %w", ErrNoBuild, err),
			Why: "a program of your own does as well: on PATH as " + e.Program + ", or as a setting",
			Try: "DYN_ENGINE__" + strings.ToUpper(e.Name) + "=<command> dyn up <recipe>",
		}
	}
	p := Plan{
		Engine: e.Name, Title: e.Title, Variant: b.variant, Version: b.version, Tried: b.tried,
		Dir: filepath.Join(dir, e.Name, b.version), Download: b.download, Disk: b.disk, build: b, want: w, host: h,
	}
	if len(e.builds) > 1 && !strings.HasSuffix(b.version, b.variant) {
		p.Dir += "-" + b.variant
	}
	if w.Wheels != "" {
		p.Download = 0
	}
	if h.Free >= 0 && h.Free < p.Disk+p.Download {
		return Plan{}, &turn.Fault{
			Op:  op,
			Err: fmt.Errorf("%w: it takes %s, %s are free", ErrNoRoom, size(p.Disk+p.Download), size(h.Free)),
			Why: dir + " is where it goes; XDG_DATA_HOME names another place", Try: "df -h " + Above(dir),
		}
	}
	p.Steps, err = steps(b, w, h)
	if err != nil {
		return Plan{}, &turn.Fault{Op: op, Err: err, Why: "packages come by uv, which brings a Python where there is none, or by python3 with venv", Try: "apt-get install python3-venv"}
	}
	return p, nil
}

// Packages are what is put into the environment, with their versions.
func (p Plan) Packages() []string { return p.build.packages }

// Summary is the plan in one line.
func (p Plan) Summary() string {
	text := fmt.Sprintf("%s %s (%s), %s on disk", p.Title, p.Version, p.Variant, size(p.Disk))
	if p.Download > 0 {
		text += ", " + size(p.Download) + " to fetch"
	}
	if !p.Tried {
		text += ", never tried"
	}
	return text
}

// steps lists what is done for a build.
func steps(b build, w Want, h Host) ([]Step, error) {
	list, uv, err := environment(b.python, h)
	if err != nil {
		return nil, err
	}
	list = append(list,
		Step{Stage: "packages", Path: packageList, text: strings.Join(b.packages, "\n") + "\n"},
		Step{Stage: "packages", Command: packages(uv, b.asks, w)})
	for _, cmd := range b.libraries {
		list = append(list, Step{Stage: "libraries", Command: cmd})
	}
	for _, f := range b.files {
		list = append(list, Step{Stage: "files", Path: f.path, text: f.text})
	}
	return append(list, Step{Stage: "check", Command: b.check}), nil
}

// environment makes a Python environment of one of the minor versions. uv is
// the program that puts packages into it, "" for its own pip.
func environment(minor [2]int, h Host) (list []Step, uv string, err error) {
	switch {
	case h.UV != "":
		python := fmt.Sprintf(">=3.%d,<3.%d", minor[0], minor[1]+1)
		make := []string{h.UV, "venv", "--no-project", "--allow-existing", "--python", python, "{env}"}
		return []Step{{Stage: "environment", Command: make}}, h.UV, nil
	case h.Python == "":
		return nil, "", fmt.Errorf("%w: there is no python3", ErrNoPython)
	case h.Minor < minor[0] || h.Minor > minor[1]:
		return nil, "", fmt.Errorf("%w: %s is 3.%d, it takes 3.%d to 3.%d", ErrNoPython, h.Python, h.Minor, minor[0], minor[1])
	}
	return []Step{{Stage: "environment", Command: []string{h.Python, "-m", "venv", "{env}"}}}, "", nil
}

// packageList is the file of the packages to install.
const packageList = "{env}/packages.txt"

// packages puts the listed packages into the environment. Only built ones:
// what has to be compiled would take an hour, or fail. asks brings what they
// ask for, too.
func packages(uv string, asks bool, w Want) []string {
	cmd := []string{"{env}/bin/python", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-compile"}
	if uv != "" {
		cmd = []string{uv, "pip", "install", "--python", "{env}/bin/python"}
	}
	cmd = append(cmd, "--only-binary", ":all:")
	if !asks {
		cmd = append(cmd, "--no-deps")
	}
	if w.Wheels != "" {
		cmd = append(cmd, "--no-index", "--find-links", w.Wheels)
	}
	return append(cmd, "-r", packageList)
}

// size writes bytes for a person: 930 MB, 2.7 GB.
func size(n int64) string {
	switch x := float64(n); {
	case x < 1e6:
		return fmt.Sprintf("%.0f kB", x/1e3)
	case x < 1e9:
		return fmt.Sprintf("%.0f MB", x/1e6)
	default:
		return fmt.Sprintf("%.1f GB", x/1e9)
	}
}
