package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Attach adds an engine that dyn did not start. It is probed with a real
// token, and what was seen decides what is used of it; it is routed and shown
// like any other worker, and never stopped. Attaching the same URL again
// returns the worker that is there, or an error when that is down. The error
// is a *turn.Fault.
func (f *Fleet) Attach(ctx context.Context, at turn.Attach) (*Worker, error) {
	base, err := address(at.URL)
	if err != nil {
		return nil, &turn.Fault{Op: "attach " + at.URL, Err: err, Try: "dyn up --attach http://127.0.0.1:8000"}
	}
	release, err := f.claim(ctx, base)
	if err != nil {
		return nil, &turn.Fault{Op: "attach " + base, Err: err}
	}
	defer release()
	all := f.Workers()
	if i := slices.IndexFunc(all, func(w *Worker) bool { return w.attached && w.Info().URL == base }); i >= 0 {
		if info := all[i].Info(); info.State == turn.Down {
			all[i].hurry() // it may be back
			err := fmt.Errorf("it is attached as %s and down: %s", info.Name, info.Why)
			return nil, &turn.Fault{Op: "attach " + base, Err: err, Try: "curl " + base + "/v1/models"}
		}
		return all[i], nil
	}
	where := Endpoint{URL: base, Key: at.Key, ModelDir: at.ModelDir}
	a, c, seen, err := f.meet(ctx, where)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("nothing listens there: %w", syscall.ECONNREFUSED)
	}
	if err != nil {
		return nil, &turn.Fault{Op: "attach " + base, Err: err, Try: "curl " + base + "/v1/models"}
	}
	w := newWorker(f)
	w.attached, w.url, w.caps = true, base, seen.Caps
	alive, halt := context.WithCancel(f.ctx)
	w.halt = halt
	if err := f.add(w, ""); err != nil {
		halt()
		c.Close()
		return nil, &turn.Fault{Op: "attach " + base, Err: err}
	}
	f.changed(w)
	f.tell(w, EventAttached, "")
	go w.follow(alive, func() Client { return a.Open(where) }, c, seen, at)
	_, err = w.await(ctx, func(i turn.WorkerInfo) bool { return i.State != turn.Starting })
	if err != nil {
		w.stop()
		f.drop(w)
		return nil, &turn.Fault{Op: "attach " + base, Err: err}
	}
	return w, nil
}

// Detach lets an attached worker go: it takes no new turns at once and leaves
// the fleet when its running turns have ended, or when ctx is done; those go
// on then, uncounted. The error is a *turn.Fault.
func (f *Fleet) Detach(ctx context.Context, name string) error {
	w, err := f.Worker(name)
	if err != nil {
		return err
	}
	if !w.attached {
		return &turn.Fault{Op: "detach " + name, Err: ErrNotAttached, Why: "dyn started it", Try: "dyn down"}
	}
	release, err := f.claim(ctx, w.Info().URL) // who attaches it meanwhile gets a worker of its own
	if err != nil {
		return &turn.Fault{Op: "detach " + name, Err: err}
	}
	defer release()
	_ = w.drain(ctx, "detaching")
	w.halt()
	<-w.done
	f.drop(w)
	return nil
}

// claim makes its caller the only one who attaches or detaches the engine at
// an address, until release. It waits for its turn as long as ctx lasts.
func (f *Fleet) claim(ctx context.Context, base string) (release func(), err error) {
	for {
		f.mu.Lock()
		other, held := f.claims[base]
		if !held {
			mine := make(chan struct{})
			f.claims[base] = mine
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				delete(f.claims, base)
				f.mu.Unlock()
				close(mine)
			}, nil
		}
		f.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// meet finds the adapter to whose probe the server answers, in the time of one
// probe: what tells one adapter nothing has no time for the next.
func (f *Fleet) meet(ctx context.Context, at Endpoint) (Adapter, Client, Seen, error) {
	ctx, cancel := within(ctx, probeLimit, "no token")
	defer cancel()
	err := errors.New("no adapters")
	for _, a := range f.o.Adapters {
		c := a.Open(at)
		var seen Seen
		if seen, err = tryToken(ctx, c); err == nil {
			return a, c, seen, nil
		}
		c.Close()
		if ctx.Err() != nil {
			break
		}
	}
	return nil, nil, Seen{}, err
}

// follow watches an attached worker until ctx ends: while it is silent it is
// down, and when it answers again it is probed anew, since another engine may
// stand there now; hence it gets a new client, too.
func (w *Worker) follow(ctx context.Context, open func() Client, c Client, seen Seen, at turn.Attach) {
	defer close(w.done)
	defer func() { c.Close() }()
	model := seen.Caps.Model
	for {
		if at.Events != "" {
			seen.Events = at.Events
		}
		if at.Replay != "" {
			seen.Replay = at.Replay
		}
		err := w.serve(ctx, c, seen, nil)
		for err != nil && ctx.Err() == nil {
			w.miss(err)
			c.Close()
			c = open()
			if seen, err = w.awaitBack(ctx, c, model); err != nil && ctx.Err() == nil {
				w.miss(err)
				w.lookAgain(ctx, strangerLooks*w.fleet.o.Poll)
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	w.change(func() { w.life.enter(turn.Gone, "detached", time.Now()) })
	w.fleet.tell(w, EventDetached, "")
}

// strangerLooks is after how many looks' time a server that answers, but not
// to our probe or with another model, is probed again.
const strangerLooks = 5

// lookAgain waits until a worker that is down may be looked at again, or
// somebody asks for that.
func (w *Worker) lookAgain(ctx context.Context, wait time.Duration) {
	select {
	case <-w.nudge: // meant for the life that has ended
	default:
	}
	select {
	case <-time.After(wait):
	case <-w.nudge:
	case <-ctx.Done():
	}
}

// miss notes that an attached worker cannot be used, and tells a reason once.
func (w *Worker) miss(err error) {
	why, before := err.Error(), w.Info()
	w.change(func() { w.life.enter(turn.Down, why, time.Now()) })
	if before.State != turn.Down || before.Why != why {
		w.fleet.tell(w, EventDown, why)
	}
}

// awaitBack waits until the server gives a token again. Meanwhile the streams
// that it left hanging are cut.
func (w *Worker) awaitBack(ctx context.Context, c Client, model string) (Seen, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		tick := time.NewTicker(w.fleet.o.Poll)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				w.cutSilent(now)
			case <-ctx.Done():
				return
			}
		}
	}()
	return sameModel(ctx, c, model)
}

// sameModel waits until the server gives a token. A server with another model
// than before is an error: the turns that come here were made for that one.
func sameModel(ctx context.Context, c Client, model string) (Seen, error) {
	seen, err := firstToken(ctx, c)
	if err == nil && seen.Caps.Model != model {
		err = fmt.Errorf("it serves %q now and was attached as %q", seen.Caps.Model, model)
	}
	return seen, err
}

// address checks an engine's URL and brings it to the form http://host:port.
func address(s string) (string, error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", fmt.Errorf("not the address of an engine: want http://host:port")
	}
	return strings.TrimSuffix(strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/"), "/v1"), nil
}
