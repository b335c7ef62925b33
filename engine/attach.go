package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Attach adds an engine that dyn did not start. It is probed with a real
// token, and what was seen decides what is used of it; it is routed and shown
// like any other worker, and never stopped. Attaching the same URL again
// returns the worker that is there. The error is a *turn.Fault.
func (f *Fleet) Attach(ctx context.Context, at turn.Attach) (*Worker, error) {
	base, err := address(at.URL)
	if err != nil {
		return nil, &turn.Fault{Op: "attach " + at.URL, Err: err, Try: "dyn up --attach http://127.0.0.1:8000"}
	}
	if i := slices.IndexFunc(f.Workers(), func(w *Worker) bool { return w.attached && w.Info().URL == base }); i >= 0 {
		return f.Workers()[i], nil
	}
	a, c, seen, err := f.meet(ctx, Endpoint{URL: base, Key: at.Key})
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
	go w.follow(alive, a, c, seen, at)
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
		return &turn.Fault{Op: "detach " + name, Err: ErrNotAttached, Why: "dyn started it", Try: "dyn drain " + name}
	}
	_ = w.drain(ctx, "detaching")
	w.halt()
	<-w.done
	f.drop(w)
	return nil
}

// meet finds the adapter to whose probe the server answers.
func (f *Fleet) meet(ctx context.Context, at Endpoint) (Adapter, Client, Seen, error) {
	err := errors.New("no adapters")
	for _, a := range f.o.Adapters {
		c := a.Open(at)
		var seen Seen
		if seen, err = tryToken(ctx, c); err == nil {
			return a, c, seen, nil
		}
		c.Close()
	}
	return nil, nil, Seen{}, err
}

// follow watches an attached worker until ctx ends: while it is silent it is
// down, and when it answers again it is probed anew, since another engine may
// stand there now.
func (w *Worker) follow(ctx context.Context, a Adapter, c Client, seen Seen, at turn.Attach) {
	defer close(w.done)
	for {
		if at.Events != "" {
			seen.Events = at.Events
		}
		if at.Replay != "" {
			seen.Replay = at.Replay
		}
		err := w.serve(ctx, c, seen)
		for err != nil && ctx.Err() == nil {
			why := err.Error()
			w.change(func() { w.life.enter(turn.Down, why, time.Now()) })
			w.fleet.tell(w, EventDown, why)
			if seen, err = firstToken(ctx, c); err != nil {
				w.rest(ctx, longestPause) // it answers, but not to our probe
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	c.Close()
	w.change(func() { w.life.enter(turn.Gone, "detached", time.Now()) })
	w.fleet.tell(w, EventDetached, "")
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
