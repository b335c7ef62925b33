package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentinfer/dyn/cache/lease"
	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/install"
	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/server"
	"github.com/agentinfer/dyn/turn"
)

// models are the model folders that the daemon serves from. Folders of
// attached engines get their public name when the engine has told it.
type models struct {
	mu       sync.Mutex // guards all below
	log      *slog.Logger
	formats  *formats
	parser   map[*prompt.Model]*parsers.Format
	own      string                   // the recipe's folder
	switches map[string]any           // of its template
	served   map[string]*prompt.Model // by public name
	opened   map[string]*prompt.Model // by folder
	stands   map[*prompt.Model]string // why they only stand for an engine's own
	folder   map[string]string        // of an attached engine, by URL
	awaited  time.Time                // until when turns wait for engines of an earlier daemon
	server   *server.Server
}

// open reads the recipe's model folder, and those of the engines to attach.
func (m *models) open(p plan, r *recipes.Recipe) error {
	m.served, m.opened, m.folder = map[string]*prompt.Model{}, map[string]*prompt.Model{}, map[string]string{}
	m.stands = map[*prompt.Model]string{}
	m.parser = map[*prompt.Model]*parsers.Format{}
	if r != nil {
		m.own, m.switches = cmp.Or(p.ModelDir, r.ModelDir), r.Template
	}
	set, err := (&app{}).parserSet()
	if err != nil {
		return err
	}
	if m.formats, err = newFormats(set, p.Parser, r, p.ModelDir != "", m.log); err != nil {
		return fail(usage, p.op(), err, "", "dyn parsers ls")
	}
	for _, at := range p.Attach {
		if err := m.expect(at); err != nil {
			return unsupported(p, err)
		}
	}
	if r == nil {
		return nil
	}
	pm, err := m.read(m.own)
	if err == nil && m.stands[pm] != "" && r.Simulated() {
		err = fmt.Errorf("%s; the simulated engine reads no others", m.stands[pm])
	}
	if err != nil {
		return unsupported(p, err)
	}
	m.served[r.Model] = pm
	return nil
}

// unsupported says which model folder cannot be served, and why.
func unsupported(p plan, err error) error {
	return fail(usage, p.op(), err, "a model folder holds a tokenizer (tokenizer.json, tekken.json, tiktoken ranks or GGUF) and a chat template", "dyn up sim")
}

// read opens a model folder once; "" is the simulated engine's own.
func (m *models) read(dir string) (*prompt.Model, error) {
	if pm := m.opened[dir]; pm != nil {
		return pm, nil
	}
	var pm *prompt.Model
	var err error
	var o prompt.Options
	if dir == m.own {
		o.Switches = m.switches
	}
	if dir == "" {
		pm, err = prompt.OpenFS(model.FS(), o)
	} else {
		pm, err = prompt.Open(dir, o)
	}
	if errors.Is(err, prompt.ErrUnsupported) { // the engine may have what we do not
		return m.stand(dir, err.Error(), o)
	}
	if err == nil {
		m.opened[dir], m.parser[pm] = pm, m.formats.of(dir)
	}
	return pm, err
}

// stand returns what stands for the tokenizer and template of a folder that
// dyn does not read, and why: turns then take the engine's own chat API, and
// ours only guesses how long they are and what they have in common.
func (m *models) stand(dir, why string, o prompt.Options) (*prompt.Model, error) {
	pm, err := prompt.OpenFS(model.FS(), o)
	if err == nil {
		m.opened[dir], m.stands[pm], m.parser[pm] = pm, why, m.formats.named
	}
	return pm, err
}

// add makes the models known to the server, under the recipe's name.
func (m *models) add(s *server.Server, recipe string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server = s
	for id, pm := range m.served {
		m.tell(id, recipe, pm)
	}
}

func (m *models) tell(id, recipe string, pm *prompt.Model) {
	m.server.AddModel(server.Model{
		ID: id, Recipe: recipe, Prompt: pm, Parser: m.parser[pm],
		Stands: m.stands[pm], Awaited: m.awaited,
	})
}

// expect remembers the model folder of an engine that is about to be
// attached.
func (m *models) expect(at turn.Attach) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.ModelDir == "" || at.Kind != "" {
		return nil
	}
	if _, err := m.read(at.ModelDir); err != nil {
		return err
	}
	m.folder[base(at.URL)] = at.ModelDir
	return nil
}

// adopt makes sure that the server knows the model of an attached worker. It
// is false while the worker has not told its model, or nobody has a folder
// for it.
func (m *models) adopt(info turn.WorkerInfo) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := info.Caps.Model
	if m.server == nil || id == "" {
		return false
	}
	if m.served[id] != nil {
		return true
	}
	dir, ok := m.folder[base(info.URL)]
	if !info.Attached || !ok && !info.Caps.Chat {
		return false
	}
	pm := m.opened[dir]
	if !ok {
		var err error
		if pm, err = m.stand("of "+id, "no model folder was given with --model-dir", prompt.Options{}); err != nil {
			return false
		}
	}
	m.served[id] = pm
	m.tell(id, "", pm)
	return true
}

// conflict reports whether a model is served from another folder than dir.
func (m *models) conflict(id, dir string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return dir != "" && m.served[id] != nil && m.served[id] != m.opened[dir]
}

// base is an engine's address without what people add to it.
func base(url string) string { return strings.TrimSuffix(strings.TrimRight(url, "/"), "/v1") }

// changed hears of every new state of a worker.
func (d *daemon) changed(w *engine.Worker) {
	info := w.Info()
	if info.State == turn.Gone {
		d.server.Remove(info.Name)
		return
	}
	d.models.adopt(info)
	if err := d.server.Update(w); err != nil {
		d.log.Debug("worker", "name", info.Name, "err", err)
	}
}

// kv hands KV events on.
func (d *daemon) kv(b turn.KVBatch) { d.server.KV(b) }

// event keeps a step of a worker's life in the ledger, and shows the ones of
// the start.
func (d *daemon) event(e engine.Event) {
	if d.background || d.up.Load() { // a foreground start shows its stages instead
		d.log.Info("worker", "name", e.Worker, "event", e.Kind, "pid", e.PID, "url", e.URL, "detail", e.Detail)
	}
	d.ledger.Worker(ledger.WorkerEvent{
		At: e.At, Worker: e.Worker, Model: e.Model, PID: e.PID, URL: e.URL, Event: e.Kind, Detail: e.Detail,
	})
	if d.up.Load() {
		return
	}
	switch e.Kind {
	case engine.EventStarting:
		d.show.stage("start", e.Worker, fmt.Sprintf("pid %d  %s", e.PID, e.URL))
	case engine.EventAdopted:
		d.show.stage("start", e.Worker, fmt.Sprintf("adopted, pid %d  %s", e.PID, e.URL))
	case engine.EventReady:
		d.show.stage("warm", e.Worker, "first token came")
	case engine.EventBlind:
		d.show.stage("warm", e.Worker, e.Detail)
	case engine.EventAttached:
		d.show.stage("start", e.Worker, "attached  "+e.URL)
	case engine.EventDown:
		d.show.stage("start", e.Worker, "down: "+e.Detail)
	}
}

// handles is the server's way to the fleet.
type handles struct{ *daemon }

// Attach adds an engine whose model is served already or comes with a model
// folder.
func (h handles) Attach(ctx context.Context, at turn.Attach) (turn.WorkerInfo, error) {
	op := "attach " + at.URL
	if at.Kind != "" {
		name, err := h.server.AttachKind(ctx, at)
		return turn.WorkerInfo{Name: name, URL: at.URL, Attached: true, State: turn.Ready}, err
	}
	if err := h.models.expect(at); err != nil {
		return turn.WorkerInfo{}, &turn.Fault{Op: op, Err: err}
	}
	old := slices.ContainsFunc(h.fleet.Workers(), func(w *engine.Worker) bool { return w.Info().URL == base(at.URL) })
	w, err := h.fleet.Attach(ctx, at)
	if err != nil {
		return turn.WorkerInfo{}, err
	}
	info := w.Info()
	if h.models.conflict(info.Caps.Model, at.ModelDir) {
		if !old {
			h.fleet.Detach(ctx, info.Name)
		}
		return info, &turn.Fault{
			Op: op, Err: fmt.Errorf("%s is served already, from another model folder than %s", info.Caps.Model, at.ModelDir),
			Try: "dyn up --attach " + at.URL,
		}
	}
	if !h.models.adopt(info) {
		h.fleet.Detach(ctx, info.Name)
		return info, &turn.Fault{
			Op: op, Err: fmt.Errorf("it serves %q, whose tokenizer is not known, and has no chat API", info.Caps.Model),
			Try: "dyn up --attach " + at.URL + " --model-dir <dir>",
		}
	}
	return info, h.server.Update(w)
}

// Detach lets an attached engine go.
func (h handles) Detach(ctx context.Context, name string) error { return h.fleet.Detach(ctx, name) }

// Restart starts a worker anew.
func (h handles) Restart(ctx context.Context, name string) error { return h.fleet.Restart(ctx, name) }

// Drain takes a worker out of routing.
func (h handles) Drain(ctx context.Context, name string) error { return h.fleet.Drain(ctx, name) }

// start starts the recipe's workers and attaches the engines, all at once,
// and returns when each has served a real turn. The first failure ends it.
func (d *daemon) start(r *recipes.Recipe) error {
	ctx, cancel := context.WithCancel(d.soft)
	defer cancel()
	var wait sync.WaitGroup
	errs := make(chan error, d.workers()+1)
	run := func(do func() error) {
		wait.Go(func() {
			if err := do(); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	d.believe()
	d.recollect()
	d.recallPauses()
	if n := d.fleet.Evict(); n > 0 {
		d.show.stage("start", "", "ended "+plural(n, "engine")+" of an earlier daemon: this dyn cannot read who they are, another release wrote it")
	}
	if n := d.fleet.Clear(d.adopts(r)...); n > 0 {
		d.show.stage("start", "", "ended "+plural(n, "engine")+" of an earlier daemon")
	}
	for i := range d.workers() {
		run(func() error {
			_, err := d.fleet.Start(ctx, engine.Spec{
				Name: fmt.Sprintf("w%d", i), Recipe: r, Flags: d.plan.Flags, ModelDir: d.plan.ModelDir,
				Program: d.plan.Program, Workers: d.plan.Workers,
			})
			return err
		})
	}
	run(func() error {
		for _, at := range d.plan.Attach { // in their order, which names them
			d.show.stage("start", "", asksToken(at))
			if _, err := (handles{d}).Attach(ctx, at); err != nil {
				return err
			}
		}
		return nil
	})
	wait.Wait()
	close(errs)
	err := <-errs // the first one; the others were cancelled by it
	switch {
	case d.soft.Err() != nil:
		return fail(interrupted, d.plan.op(), errors.New("interrupted"), "nothing runs", "")
	case err != nil:
		f := understand(d.plan.op(), err)
		f.code = unhealthy
		if p := d.plan; p.ProgramFrom == string(install.Path) && strings.HasPrefix(f.Try, "dyn logs w") {
			f.Try = "dyn engine doctor " + r.Engine // whose it is, is not what its log says
		}
		return f
	}
	return nil
}

// lookBack is how many turns of an earlier daemon are looked at.
const lookBack = 4096

// believe tells the server where the last turns of an earlier daemon were,
// when its engines may be adopted.
func (d *daemon) believe() {
	since := map[string]time.Time{}
	for _, r := range keep.List(d.folders.Run()) {
		since[r.Worker] = r.Started
	}
	if len(since) == 0 {
		return
	}
	r, err := ledger.OpenReader(d.folders.Ledger())
	if err == nil {
		defer r.Close()
		var turns []ledger.Turn
		turns, err = r.Turns(d.soft, ledger.Query{Limit: lookBack})
		d.server.Believe(turns, since)
	}
	if err != nil {
		d.log.Warn("where turns were is not known", "err", err)
	}
}

// leaseAge is the longest that a lease is for.
const leaseAge = 24 * time.Hour

// recollect gives the server the leases of an earlier daemon.
func (d *daemon) recollect() {
	r, err := ledger.OpenReader(d.folders.Ledger())
	if err != nil {
		return // it says so itself where it matters
	}
	defer r.Close()
	rows, err := r.LastLeases(d.soft, time.Now().Add(-leaseAge), lease.Most)
	if err != nil {
		d.log.Warn("leases of an earlier daemon are not known", "err", err)
		return
	}
	if n := d.server.Recollect(rows); n > 0 {
		d.log.Info("leases of an earlier daemon go on", "leases", n)
	}
}

// adopts are the workers whose engines may run since an earlier daemon.
func (d *daemon) adopts(r *recipes.Recipe) (names []string) {
	if r == nil || r.BindToDaemon {
		return nil
	}
	for i := range d.workers() {
		names = append(names, fmt.Sprintf("w%d", i))
	}
	return names
}

// awaitLimit is how long turns wait for an engine that is taken over. It has its
// weights, so that its first token is not far.
const awaitLimit = 10 * time.Second

// awaited is until when turns wait for the engines of an earlier daemon; zero
// when there are none.
func (d *daemon) awaited(r *recipes.Recipe) time.Time {
	names := d.adopts(r)
	for _, k := range keep.List(d.folders.Run()) {
		if k.Ready && k.Ended == "" && k.Model == r.Model && slices.Contains(names, k.Worker) {
			return time.Now().Add(awaitLimit)
		}
	}
	return time.Time{}
}

// workers is how many engines the plan starts.
func (d *daemon) workers() int {
	if d.plan.Recipe == "" {
		return 0
	}
	return d.plan.Workers
}

// ready tells the result of the start.
func (d *daemon) ready() {
	d.up.Store(true)
	st := step{State: "started", URL: d.url, PID: os.Getpid(), Workers: len(d.fleet.Workers())}
	for _, w := range d.fleet.Workers() {
		st.Model, st.Context = w.Info().Caps.Model, w.Info().Caps.Context
	}
	d.show.finish(st)
}
