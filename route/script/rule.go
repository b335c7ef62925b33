package script

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentinfer/dyn/route"
)

// Suffix is how the names of files end that New takes for rules.
const Suffix = ".star"

// Limits bound what a file may take for one decision, and to be loaded.
type Limits struct {
	Steps uint64        // of the interpreter
	Size  int           // values that its operations handle
	Time  time.Duration // of the clock; steps and size end first unless the machine is busy
}

// Default are the limits of rules that New opens. The file of the package
// comment takes 30 steps for a worker.
var Default = Limits{Steps: 100_000, Size: 200_000, Time: 50 * time.Millisecond}

// mostSource is how long a file may be.
const mostSource = 64 << 10

// Rule is a strategy that a file decides.
type Rule struct {
	name     string // the file's, for warnings
	pick     starlark.Callable
	limits   Limits
	fallback route.Strategy
	blocks   bool // it looks at blocks
}

// New makes the strategy that a text names: a file where it ends in ".star",
// with the default rule behind it, else what route.New makes of it.
func New(text string) (route.Strategy, error) {
	if !strings.HasSuffix(text, Suffix) {
		return route.New(text)
	}
	src, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("strategy: %w", err)
	}
	fallback, err := route.New("")
	if err != nil {
		return nil, err
	}
	return Load(filepath.Base(text), src, Default, fallback)
}

// read reads a file unless it is longer than rules are.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(), info.Size() > mostSource: // a pipe would be waited for
		return nil, fmt.Errorf("%s is no file of up to %d bytes", path, mostSource)
	}
	return os.ReadFile(path)
}

// Load makes a rule of a file's text. fallback decides where the file fails.
func Load(name string, src []byte, limits Limits, fallback route.Strategy) (*Rule, error) {
	if len(src) > mostSource {
		return nil, fmt.Errorf("strategy %s: %d bytes; a rule has up to %d", name, len(src), mostSource)
	}
	options := &syntax.FileOptions{TopLevelControl: true}
	file, err := options.Parse(name, src, 0)
	if err != nil {
		return nil, fmt.Errorf("strategy: %w", err)
	}
	if err := rewrite(file); err != nil {
		return nil, fmt.Errorf("strategy: %w", err)
	}
	known := builtins()
	program, err := starlark.FileProgram(file, known.Has)
	if err != nil {
		return nil, fmt.Errorf("strategy: %w", err)
	}
	r := &Rule{name: name, limits: limits, fallback: fallback, blocks: bytes.Contains(src, []byte(".blocks")) || bytes.Contains(src, []byte(".shared"))}
	var globals starlark.StringDict
	err = r.run(func(t *starlark.Thread) (err error) {
		globals, err = program.Init(t, known)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("strategy: %s", explain(name, err))
	}
	globals.Freeze()
	pick, ok := globals["pick"].(*starlark.Function)
	if !ok || pick.NumParams() != 2 {
		return nil, fmt.Errorf("strategy %s: it has no function pick(need, workers)", name)
	}
	r.pick = pick
	return r, nil
}

// run calls into the interpreter within the limits.
func (r *Rule) run(do func(*starlark.Thread) error) error {
	t := &starlark.Thread{Name: r.name}
	t.SetMaxExecutionSteps(r.limits.Steps)
	t.OnMaxSteps = func(t *starlark.Thread) { t.Cancel(fmt.Sprintf("more than %d steps", r.limits.Steps)) }
	t.SetLocal(meterKey, &meter{left: r.limits.Size, most: r.limits.Size})
	stop := time.AfterFunc(r.limits.Time, func() { t.Cancel(fmt.Sprintf("more than %v", r.limits.Time)) })
	defer stop.Stop()
	return do(t)
}

// Pick is of route.Strategy.
func (r *Rule) Pick(n route.Need, cs []route.Candidate) route.Decision {
	d := route.Survey(n, cs)
	workers := open(&n, cs, &d)
	if len(workers) == 0 {
		return d
	}
	var answer starlark.Value
	err := r.run(func(t *starlark.Thread) (err error) {
		list := make([]starlark.Value, len(workers))
		for i := range workers {
			list[i] = &workers[i]
		}
		answer, err = starlark.Call(t, r.pick, starlark.Tuple{&turn{n: &n}, starlark.NewList(list)}, nil)
		return err
	})
	if err == nil {
		err = settle(&d, &n, workers, answer)
	}
	if err == nil && d.Worker != "" {
		return d
	}
	d = r.fallback.Pick(n, cs)
	if err != nil {
		d.Warning = explain(r.name, err) + "; the default rule decided"
	}
	return d
}

// Blockwise is of route.Blockwise.
func (r *Rule) Blockwise() bool { return r.blocks }

// open are the workers that may take the turn, by name.
func open(n *route.Need, cs []route.Candidate, d *route.Decision) []worker {
	var list []worker
	for i := range cs {
		if d.Parts[i].Out == "" {
			list = append(list, worker{c: &cs[i], p: &d.Parts[i], lot: route.Lot(n, cs[i].Worker)})
		}
	}
	slices.SortFunc(list, func(a, b worker) int { return strings.Compare(a.c.Worker, b.c.Worker) })
	return list
}

// settle makes what the file answered the decision; None leaves it open.
func settle(d *route.Decision, n *route.Need, workers []worker, answer starlark.Value) error {
	find := func(v starlark.Value) (*worker, error) {
		name, ok := starlark.AsString(v)
		if w, is := v.(*worker); is {
			name, ok = w.c.Worker, true
		}
		at, found := slices.BinarySearchFunc(workers, name, func(w worker, name string) int { return strings.Compare(w.c.Worker, name) })
		if !ok || !found {
			return nil, fmt.Errorf("pick answers %s, which is none of the workers that it was given", brief(v))
		}
		return &workers[at], nil
	}
	switch answer := answer.(type) {
	case starlark.NoneType:
		return nil
	case *starlark.Dict:
		return cheapest(d, n, answer, find)
	}
	w, err := find(answer)
	if err != nil {
		return err
	}
	d.Choose(w.p, route.ByFile)
	return nil
}

// cheapest makes the worker with the least cost the decision. Those that the
// file gives no cost are out.
func cheapest(d *route.Decision, n *route.Need, costs *starlark.Dict, find func(starlark.Value) (*worker, error)) error {
	given := map[*route.Part]bool{}
	for _, item := range costs.Items() {
		w, err := find(item[0])
		if err != nil {
			return err
		}
		cost, ok := starlark.AsFloat(item[1])
		if !ok || math.IsNaN(cost) || math.IsInf(cost, 0) {
			return fmt.Errorf("pick answers a cost of %s for %s", brief(item[1]), w.c.Worker)
		}
		w.p.Cost, given[w.p] = cost, true
	}
	if len(given) == 0 {
		return errors.New("pick answers an empty dict")
	}
	for i := range d.Parts {
		if p := &d.Parts[i]; p.Out == "" && !given[p] {
			p.Out = "the file gives it no cost"
		}
	}
	d.Least(n, route.Cheapest)
	return nil
}

// brief is a value for a message, whatever it holds.
func brief(v starlark.Value) string {
	switch v.(type) {
	case starlark.String, starlark.Int, starlark.Float, starlark.Bool:
		if text := v.String(); len(text) <= 60 {
			return text
		}
	}
	return "a " + v.Type()
}

// explain says what went wrong, and in which line.
func explain(name string, err error) string {
	var failed *starlark.EvalError
	if !errors.As(err, &failed) {
		return fmt.Sprintf("%s: %v", name, err)
	}
	text := failed.Msg
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	for i := range failed.CallStack {
		if at := failed.CallStack.At(i).Pos; at.IsValid() && at.Filename() == name && at.Line > 0 {
			return fmt.Sprintf("%s:%d: %s", name, at.Line, text)
		}
	}
	return name + ": " + text
}
