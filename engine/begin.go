package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentinfer/dyn/engine/child"
	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/turn"
)

// adoptLimit is how long an engine that was ready under an earlier daemon may
// take for its token.
const adoptLimit = time.Minute

// boundGrace is how long a container outlives a daemon to which it is bound.
const boundGrace = 500 * time.Millisecond

// errAdopted is in the chain when an engine that was found running turned out
// to be of no use; it is started anew then.
var errAdopted = errors.New("it was adopted")

// process is an engine, whoever its parent is.
type process interface {
	PID() int
	Exited() <-chan struct{} // closed when nothing of it is left
	Err() error              // how it ended; to be read after Exited
	End(wait time.Duration)  // SIGTERM, and after the wait SIGKILL to all of it
}

// begun is the process of one life.
type begun struct {
	process
	at       Endpoint
	known    turn.Capabilities
	termWait time.Duration
	dir      string
	inbox    *inbox // of an engine that connects to its reader; nil of any other
	started  time.Time
	adopted  bool
	loaded   bool // it gave a token to an earlier daemon
}

// begin makes the process of one life: the one that is kept from an earlier
// daemon where it was launched the same way, else a new one.
func (w *Worker) begin(s Spec, a Adapter) (*begun, error) {
	o := &w.fleet.o
	l, err := a.Launch(s, Place{Self: o.Self}) // for what an adopted one cannot be asked
	if err != nil {
		return nil, err
	}
	b := &begun{known: l.Known, termWait: cmp.Or(l.TermWait, o.TermWait), dir: w.dir()}
	if w.adopt(b, s, a, l.Env) {
		return b, nil
	}
	if err := w.launch(b, s, a); err != nil {
		b.inbox.close()
		_ = os.RemoveAll(b.dir)
		return nil, err
	}
	return b, nil
}

// adopt takes over the engine of this name that runs since an earlier daemon.
// One that was launched otherwise is ended. env is that of a new launch, which
// is the engine's own but for what differs in each life.
func (w *Worker) adopt(b *begun, s Spec, a Adapter, env []string) bool {
	if w.fleet.o.Run == "" {
		return false
	}
	old, err := keep.Read(keep.Path(w.fleet.o.Run, w.name))
	if err != nil {
		return false
	}
	k, err := keep.Join(old)
	if err != nil || s.Recipe.BindToDaemon || old.Hash != s.hash(a) {
		if old.Ended != "" {
			w.fleet.tell(w, EventDown, "it ended while no daemon ran: "+old.Ended)
		}
		keep.End(old, b.termWait)
		return false
	}
	w.fleet.mu.Lock()
	w.port = k.Port
	w.fleet.mu.Unlock()
	w.mu.Lock()
	w.secrets = append(given(os.Environ(), env), k.Key)
	w.mu.Unlock()
	b.process, b.adopted, b.loaded, b.started = k, true, k.Record.Ready, k.Started
	b.at = Endpoint{URL: local(k.Port), Key: k.Key, ModelDir: s.dir(), Args: k.Flags, Vision: s.Recipe.Vision}
	if k.Events != "" {
		b.inbox = openInbox(k.Events)
	}
	return true
}

// launch starts a new process.
func (w *Worker) launch(b *begun, s Spec, a Adapter) error {
	at, err := w.choose(b)
	if err != nil {
		return err
	}
	l, remove, err := w.fleet.launchOf(a, s, w.name, at)
	if err != nil {
		return err
	}
	if at.Events == "" || !b.inbox.asked(l.Args) {
		b.inbox.close()
		b.inbox, at.Events = nil, ""
	}
	out, from, err := openLog(w.log)
	if err != nil {
		return fmt.Errorf("open its log: %w", err)
	}
	defer out.Close() // the child has its own
	w.mu.Lock()
	w.logFrom, w.secrets = from, append(given(os.Environ(), l.Env), at.Key)
	w.mu.Unlock()
	env := launching(l, remove)
	b.started = time.Now()
	b.at = Endpoint{URL: local(at.Port), Key: at.Key, ModelDir: s.dir(), Args: l.Args, Vision: s.Recipe.Vision}
	if w.fleet.o.Run == "" || s.Recipe.BindToDaemon && remove == nil {
		b.process, err = w.fleet.launcher.Start(child.Command{Args: l.Args, Env: env, Out: out, Bound: s.Recipe.BindToDaemon, After: remove})
		return err
	}
	grace := w.fleet.o.KeepFor
	if s.Recipe.BindToDaemon { // the kernel ends a container's client with us, and nobody would end the container
		grace = boundGrace
	}
	b.process, err = w.keep(b, keep.Order{
		Grace: grace, Record: keep.Record{
			Worker: w.name, Hash: s.hash(a), Recipe: s.Recipe.Name, Model: s.Recipe.Model, Flags: l.Args, Port: at.Port,
			Key: at.Key, Events: at.Events, Remove: remove,
		},
		Args: l.Args, Env: env,
	}, out)
	if k, ok := b.process.(*keep.Kept); ok {
		b.started = k.Started // as who adopts it is told
	}
	return err
}

// choose finds what one life needs: a port, a folder, and who listens for its
// KV events.
func (w *Worker) choose(b *begun) (Place, error) {
	port, err := w.fleet.freePort(w)
	if err != nil {
		return Place{}, fmt.Errorf("find a free port: %w", err)
	}
	at := w.fleet.place(port)
	at.Dir = b.dir
	b.inbox = newInbox()
	if b.inbox.in != nil {
		at.Events = b.inbox.addr
	}
	if err := errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.dir, 0o700)); err != nil {
		return at, fmt.Errorf("make its folder: %w", err)
	}
	return at, nil
}

// keep starts an engine that outlives this process.
func (w *Worker) keep(b *begun, order keep.Order, out *os.File) (process, error) {
	o := &w.fleet.o
	order.Record.Log, order.Record.Dir = w.log, b.dir
	order.Record.Socket = filepath.Join(o.Sockets, w.name+".sock")
	order.Path = keep.Path(o.Run, w.name)
	order.Own = environment(os.Environ(), nil)
	order.TermWait = b.termWait
	k, err := keep.Start(o.Self, order, out)
	if errors.Is(err, keep.ErrNone) {
		err = fmt.Errorf("%w: %w", errEnded, err)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// dir is where a life of the worker may have its files.
func (w *Worker) dir() string {
	return filepath.Join(cmp.Or(w.fleet.o.Run, w.fleet.o.Logs), w.name+".files")
}

// local is the address of a server on this machine.
func local(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// hash is of all that decides what runs: an engine with the same hash need not
// be started anew. What is chosen anew for each life is left out.
func (s Spec) hash(a Adapter) string {
	s.without = nil // that is found out anew only when it is launched anew
	l, err := a.Launch(s, Place{Self: "{self}"})
	if err != nil {
		return ""
	}
	slices.Sort(l.Env)
	text, _ := json.Marshal([][]string{{a.Name(), s.Recipe.Model, s.dir()}, l.Args, l.Env, s.Env}) // strings only
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// end ends the process and removes its files.
func (b *begun) end() {
	b.End(b.termWait)
	b.inbox.close()
	_ = os.RemoveAll(b.dir) // made anew for the next life
}

// kind is the event that tells of it.
func (b *begun) kind() string {
	if b.adopted {
		return EventAdopted
	}
	return EventStarting
}

// patience is how long its first token is waited for.
func (b *begun) patience(start time.Duration) time.Duration {
	if b.loaded {
		return min(adoptLimit, start)
	}
	return start
}

// ready notes, for those who may adopt it, that it gave a token.
func (b *begun) ready() {
	if k, ok := b.process.(*keep.Kept); ok {
		k.Ready()
	}
}

// blame says of an error before the first token whose fault it is.
func (b *begun) blame(err error) error {
	if b.adopted {
		return fmt.Errorf("%w: %w", errAdopted, err)
	}
	return err
}

// Clear ends the engines that are kept from an earlier daemon, except those of
// the named workers, which are about to be started again. It returns when they
// are gone, with how many there were.
func (f *Fleet) Clear(except ...string) int {
	var gone []keep.Record
	for _, r := range keep.List(f.o.Run) {
		if !slices.Contains(except, r.Worker) {
			gone = append(gone, r)
		}
	}
	keep.EndAll(gone, f.o.TermWait)
	keep.Sweep(f.o.Run)
	return len(gone)
}
