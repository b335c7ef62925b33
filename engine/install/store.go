package install

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Store is the folder of the installed engines. The folder need not be there.
type Store struct{ Dir string }

// Installed is one installation.
type Installed struct {
	V        int       `json:"v"` // of this form: 1
	Engine   string    `json:"engine"`
	Version  string    `json:"version"`
	Variant  string    `json:"variant"`
	Args     []string  `json:"args"`   // the program; {dir} is the installation's folder
	Probed   bool      `json:"probed"` // it has given a token on this machine
	Packages []string  `json:"packages"`
	Bytes    int64     `json:"bytes"` // on disk
	At       time.Time `json:"at"`
	Dir      string    `json:"-"` // its folder
}

// Name is how a user names one installation of several: vllm@0.32.0+cpu-cpu.
func (i Installed) Name() string { return i.Engine + "@" + filepath.Base(i.Dir) }

// Program is the command that runs it.
func (i Installed) Program() Program {
	p := Program{Engine: i.Engine, Version: i.Version, From: Own, Dir: i.Dir}
	for _, w := range i.Args {
		p.Args = append(p.Args, strings.ReplaceAll(w, "{dir}", i.Dir))
	}
	return p
}

// List finds the installations, by name and the newest first. What cannot be
// read is no installation.
func (s Store) List() ([]Installed, error) {
	paths, err := below(s.Dir, "[^.]*/*/"+manifest)
	if err != nil {
		return nil, err
	}
	var all []Installed
	for _, path := range paths {
		data, err := os.ReadFile(path)
		var i Installed
		if err != nil || json.Unmarshal(data, &i) != nil || i.Engine == "" || len(i.Args) == 0 {
			continue
		}
		i.Dir = filepath.Dir(path)
		all = append(all, i)
	}
	slices.SortStableFunc(all, func(a, b Installed) int {
		if a.Engine != b.Engine {
			return strings.Compare(a.Engine, b.Engine)
		}
		return b.At.Compare(a.At)
	})
	return all, nil
}

// below finds the paths below a folder, of any name, that fit a pattern.
func below(dir, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return names, err
}

// sweep removes what a crash left. The folder's lock must be held.
func sweep(dir string) {
	left, _ := below(dir, ".new-*") // the pattern is good
	for _, dir := range left {
		os.RemoveAll(dir)
	}
}

// Has reports whether what a plan would install is there.
func (s Store) Has(p Plan) bool {
	_, ok := s.find(p.Dir)
	return ok
}

// find is the installation in a folder.
func (s Store) find(dir string) (Installed, bool) {
	all, _ := s.List()
	i := slices.IndexFunc(all, func(i Installed) bool { return i.Dir == dir })
	if i < 0 {
		return Installed{}, false
	}
	return all[i], true
}

// manifest is the name of the file that says what an installation is.
const manifest = "install.json"

// Install carries a plan out. model is a file to take the first token from;
// "" leaves that to whoever uses the engine. What is installed already stays,
// and is returned with again set. The error is a *turn.Fault, or ctx's cause;
// nothing is left of an installation that failed.
func (s Store) Install(ctx context.Context, p Plan, model string, show func(Progress)) (i Installed, again bool, err error) {
	lock, err := s.lock("install " + p.Engine)
	if err != nil {
		return Installed{}, false, err
	}
	defer lock.Close()
	sweep(s.Dir)
	if i, ok := s.find(p.Dir); ok {
		return i, true, nil
	}
	dir, err := s.begin()
	if err != nil {
		return Installed{}, false, &turn.Fault{Op: "install " + p.Engine, Err: err}
	}
	defer os.RemoveAll(dir) // after the rename there is none
	r := &runner{dir: dir, op: "install " + p.Engine, try: "dyn engine install " + p.Engine, copy: p.copyAdvice(), from: p.want.Wheels, show: show}
	if !p.build.asks {
		r.packages, r.bytes = len(p.build.packages), p.Download
	}
	if err := r.run(ctx, p.Steps); err != nil {
		return Installed{}, false, err
	}
	i, err = p.result(dir)
	if err == nil && model != "" && p.Engine == llamacpp.Name {
		show(Progress{Stage: "probe"})
		err = Probe(ctx, i.Program(), model)
		i.Probed = err == nil
	}
	if err == nil {
		err = commit(&i, p.Dir)
	}
	if err != nil {
		var f *turn.Fault
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if !errors.As(err, &f) {
			err = &turn.Fault{Op: "install " + p.Engine, Err: err, Try: "dyn engine doctor"}
		}
	}
	return i, false, err
}

// tidy sweeps where there is something to sweep and nobody installs.
func (s Store) tidy() {
	if left, _ := below(s.Dir, ".new-*"); len(left) == 0 {
		return
	}
	if lock, err := s.lock("tidy"); err == nil {
		sweep(s.Dir)
		lock.Close()
	}
}

// begin makes the folder of a new installation.
func (s Store) begin() (string, error) {
	dir, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return "", err
	}
	return dir, os.Mkdir(filepath.Join(dir, "tmp"), 0o700)
}

// result describes what is in an environment's folder now.
func (p Plan) result(dir string) (Installed, error) {
	i := Installed{
		V: 1, Engine: p.Engine, Version: p.Version, Variant: p.Variant, Packages: p.build.packages,
		At: time.Now().UTC().Truncate(time.Second), Dir: dir,
	}
	r := runner{dir: dir}
	for _, w := range p.build.args {
		word, err := r.fill(w)
		if err != nil {
			return i, err
		}
		i.Args = append(i.Args, strings.ReplaceAll(word, dir, "{dir}"))
	}
	if err := os.RemoveAll(filepath.Join(dir, "tmp")); err != nil {
		return i, err
	}
	var err error
	i.Bytes, err = sizeOf(dir)
	return i, err
}

// commit writes down what an installation is, and gives it its place.
func commit(i *Installed, place string) error {
	data, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(i.Dir, manifest), append(data, '\n'), 0o644); err != nil {
		return err
	}
	if err := settle(i.Dir, place); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(place); err != nil { // without a manifest it was none
		return err
	}
	if err := os.Chmod(i.Dir, 0o755); err != nil {
		return err
	}
	if err := os.Rename(i.Dir, place); err != nil {
		return err
	}
	i.Dir = place
	return nil
}

// sizeOf adds up the files of a folder. A file with two names, as uv makes
// them, counts here for its whole: it may be the only one left.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
