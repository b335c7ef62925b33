package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentinfer/dyn/engine/child"
	"github.com/agentinfer/dyn/turn"
)

// Options says where a fleet keeps its files, what it can drive, and who is
// told what. The zero value of a duration is the default named beside it.
type Options struct {
	Logs     string // folder of the workers' log files; made when missing
	Run      string // folder of the run files of engines that outlive this process; "" has none outlive it
	Sockets  string // folder of their keepers' sockets; "" is Run
	Self     string // path of this program, for {self} in recipes and for keepers
	Adapters []Adapter

	// OnChange is told that a worker's Info or Load is new. A worker first
	// appears Starting and last Gone. It may be called from several
	// goroutines at once; what Info says then counts, not the order of calls.
	OnChange func(*Worker)
	// OnKV is given a worker's KV batches in their order, one at a time per
	// worker. Each life of a worker begins with KVRestart. The batch and all
	// it points to belong to the receiver.
	OnKV func(turn.KVBatch)
	// Verify looks, in each life of a worker and before it is ready, whether
	// its engine makes the same prompts as we do. What it returns, if not "",
	// is why the worker's turns go to the engine's own chat API; see
	// turn.WorkerInfo.Chat. nil finds nothing.
	Verify func(ctx context.Context, i turn.WorkerInfo, c Client) string
	// OnEvent is told each step of a worker's life.
	OnEvent func(Event)

	Poll       time.Duration // between two looks at a worker: 1 s
	StartLimit time.Duration // for the first token of a launched worker: 15 min
	DrainStall time.Duration // longest silence of a stream on a draining worker: 10 s
	Stall      time.Duration // longest silence of a stream after its first token: 2 min
	Hang       time.Duration // longest time without any sign of work while turns wait: 90 s
	HangProbe  time.Duration // for the token that is asked for then: 30 s, or Hang where that is less
	TermWait   time.Duration // between SIGTERM and SIGKILL: 5 s
	KeepFor    time.Duration // engines outlive this process for so long: 10 min
}

// Fleet is all workers of a daemon. It is safe for concurrent use.
type Fleet struct {
	o        Options
	ctx      context.Context
	cancel   context.CancelFunc
	launcher child.Launcher

	mu      sync.Mutex // guards all below; held for moments only
	workers []*Worker
	stopped bool
	claims  map[string]chan struct{} // engines that are being attached or detached, by address; closed at its end
}

// NewFleet makes an empty fleet. It must be stopped in the end.
func NewFleet(o Options) *Fleet {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&o.Poll, time.Second)
	def(&o.StartLimit, 15*time.Minute)
	def(&o.DrainStall, 10*time.Second)
	def(&o.Stall, 2*time.Minute)
	def(&o.Hang, 90*time.Second)
	def(&o.HangProbe, min(30*time.Second, o.Hang))
	def(&o.TermWait, 5*time.Second)
	def(&o.KeepFor, 10*time.Minute)
	o.Sockets = cmp.Or(o.Sockets, o.Run)
	f := &Fleet{o: o, claims: map[string]chan struct{}{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Workers returns all workers in the order they were added.
func (f *Fleet) Workers() []*Worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.workers)
}

// Worker returns the worker of that name. The error is a *turn.Fault with
// ErrNoWorker in its chain.
func (f *Fleet) Worker(name string) (*Worker, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, w := range f.workers {
		if w.name == name {
			return w, nil
		}
		names = append(names, w.name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // w2 before w10
	return nil, &turn.Fault{
		Op: fmt.Sprintf("find worker %q", name), Err: ErrNoWorker,
		Why: "workers: " + strings.Join(names, ", "), Try: "dyn ps",
	}
}

// Drain takes a worker out of routing and waits until its running turns have
// ended or ctx is done. The worker stays: Restart makes it take turns again.
func (f *Fleet) Drain(ctx context.Context, name string) error {
	w, err := f.Worker(name)
	if err != nil {
		return err
	}
	w.change(func() { w.life.held = true })
	if err := w.drain(ctx, byHand); err != nil {
		return fmt.Errorf("drain %s: %w", name, err)
	}
	f.tell(w, EventDrained, "")
	return nil
}

// Restart drains a worker, ends its process and starts it anew; it returns
// when the worker is ready again. Turns that still run when ctx is done or
// after the drain limit are lost to it. A worker that was only drained, or is
// down, is started as well; an attached one is taken back into routing.
func (f *Fleet) Restart(ctx context.Context, name string) error {
	w, err := f.Worker(name)
	if err != nil {
		return err
	}
	if w.attached {
		w.undrain()
		return nil
	}
	w.change(func() {
		now := time.Now()
		if takes(w.life.state) {
			w.life.enter(turn.Draining, restarting, now)
		}
		w.life.expect(now, 0)
	})
	quiet, cancel := context.WithTimeout(ctx, f.o.DrainStall)
	_ = w.drain(quiet, restarting)
	cancel()
	w.cutAll("is restarted") // what still runs goes on elsewhere
	lives := w.orderRestart()
	info, err := w.await(ctx, func(i turn.WorkerInfo) bool {
		return i.State == turn.Gone || (i.State == turn.Ready && i.Restarts > lives)
	})
	if err == nil && info.State == turn.Gone {
		err = errors.New("it was stopped meanwhile")
	}
	if err != nil {
		return w.fault("restart", err)
	}
	return nil
}

// Stop takes all workers out of routing, lets their running turns end within
// the grace, and ends every process that the fleet started, with its process
// group. It returns when none is left; the fleet starts nothing again. When
// ctx ends, the rest of the grace is skipped.
func (f *Fleet) Stop(ctx context.Context, grace time.Duration) error {
	f.mu.Lock()
	f.stopped = true
	all := slices.Clone(f.workers)
	f.mu.Unlock()

	quiet, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	var wait sync.WaitGroup
	for _, w := range all {
		wait.Go(func() {
			_ = w.drain(quiet, "stopping")
			w.cutAll("is stopped") // the grace is over
			w.stop()
		})
	}
	wait.Wait()
	f.cancel()
	f.launcher.Close()
	return nil
}

// add names a worker and lists it: w0, w1 … when it was launched, a0, a1 …
// when it was attached.
func (f *Fleet) add(w *Worker, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return errors.New("the fleet is stopping")
	}
	taken := func(n string) bool {
		return slices.ContainsFunc(f.workers, func(o *Worker) bool { return o.name == n })
	}
	if name != "" && taken(name) {
		return fmt.Errorf("there is a worker %s already", name)
	}
	letter := "w"
	if w.attached { // so that it never takes a name that a launch asks for
		letter = "a"
	}
	for n := 0; name == "" || taken(name); n++ {
		name = fmt.Sprintf("%s%d", letter, n)
	}
	w.name = name
	if !w.attached {
		w.log = filepath.Join(f.o.Logs, name+".log")
	}
	f.workers = append(f.workers, w)
	return nil
}

// drop takes a worker off the list.
func (f *Fleet) drop(w *Worker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers = slices.DeleteFunc(f.workers, func(o *Worker) bool { return o == w })
}

func (f *Fleet) adapter(name string) (Adapter, error) {
	for _, a := range f.o.Adapters {
		if a.Name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no adapter for engine %q", name)
}

func (f *Fleet) changed(w *Worker) {
	if f.o.OnChange != nil {
		f.o.OnChange(w)
	}
}

func (f *Fleet) kv(b turn.KVBatch) {
	if f.o.OnKV != nil {
		f.o.OnKV(b)
	}
}

func (f *Fleet) tell(w *Worker, kind, detail string) {
	if f.o.OnEvent == nil {
		return
	}
	i := w.Info()
	f.o.OnEvent(Event{
		At: time.Now(), Worker: i.Name, Model: i.Caps.Model, PID: i.PID, URL: i.URL, Kind: kind, Detail: detail,
	})
}
