package core

import (
	"context"
	"time"

	"github.com/agentinfer/dyn/engine/sim/sched"
)

// Submit hands an ask to the engine. The errors are ErrBusy, ErrDraining and
// ErrDead.
func (e *Engine) Submit(ask *Ask) (*Answer, error) {
	a := &Answer{
		engine: e,
		req: &sched.Request{
			Tokens: ask.Prompt, Chain: ask.Chain, Salt: ask.Salt,
			Priority: ask.Priority, Report: ask.Report,
		},
		ask:   ask,
		text:  newText(ask.Stop, ask.KeepStop),
		wake:  make(chan struct{}, 1),
		began: time.Now(),
	}
	if err := e.enter(a); err != nil {
		return nil, err
	}
	poke(e.wake)
	return a, nil
}

// enter leaves an ask in the inbox, unless it is refused. Both happen under
// one lock, so that an engine that dies sees every ask it has not refused.
func (e *Engine) enter(a *Answer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut != nil {
		return e.shut
	}
	if e.cfg.MaxOpen > 0 && e.open.Load() >= int64(e.cfg.MaxOpen) {
		e.stats.rejected()
		return ErrBusy
	}
	e.open.Add(1)
	e.inbox = append(e.inbox, func(e *Engine) {
		if e.dying {
			e.closeOne()
			a.fail(ErrDead)
			return
		}
		e.live[a.req] = a
		e.sched.Add(a.req)
	})
	return nil
}

// Drain lets what runs and waits end and takes nothing new.
func (e *Engine) Drain() { e.refuse(ErrDraining) }

// Abort ends all answers with what they have, and takes nothing new.
func (e *Engine) Abort() {
	e.refuse(ErrDraining)
	e.post(func(e *Engine) {
		for r, a := range e.live {
			e.stats.ended(a, Aborted, time.Now())
			e.sched.Drop(r)
			e.forget(a)
			a.finish(&End{Reason: Aborted, StopID: -1})
		}
		e.stats.gauge(e)
	})
	poke(e.urgent)
}

// Die ends Run. Every answer fails with ErrDead.
func (e *Engine) Die() {
	e.refuse(ErrDead)
	e.post(func(e *Engine) { e.die() })
	poke(e.urgent)
}

// Freeze ends Run and leaves all answers open without a word, as a killed
// engine behind a hanging server does.
func (e *Engine) Freeze() {
	e.refuse(ErrDead)
	e.post(func(e *Engine) { e.dying = true })
	poke(e.urgent)
}

// Idle blocks until a draining or dead engine has no open answer.
func (e *Engine) Idle(ctx context.Context) error {
	select {
	case <-e.idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Dead reports whether the engine died.
func (e *Engine) Dead() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shut == ErrDead
}

// Reset wipes the prefix cache; false when some answer still holds blocks.
func (e *Engine) Reset(ctx context.Context) bool {
	done := make(chan bool, 1)
	e.post(func(e *Engine) { done <- e.pool.Reset() })
	select {
	case ok := <-done:
		return ok
	case <-ctx.Done():
		return false
	}
}

// die runs in Run's goroutine.
func (e *Engine) die() {
	e.dying = true
	e.refuse(ErrDead)
	for _, a := range e.live {
		e.forget(a)
		a.fail(ErrDead)
	}
}

// refuse takes nothing new from now on; a later reason replaces an earlier.
func (e *Engine) refuse(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := e.shut == nil
	if e.shut != ErrDead {
		e.shut = why
	}
	if first && e.open.Load() == 0 {
		close(e.idle)
	}
}

// closeOne counts an answer that ended.
func (e *Engine) closeOne() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open.Add(-1) == 0 && e.shut != nil {
		close(e.idle)
	}
}

// Draining reports whether new asks are refused.
func (e *Engine) Draining() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shut != nil
}
