package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// writer owns the file and the rows that left the queue. It is one goroutine.
type writer struct {
	l      *Ledger
	file   *file // nil when it is not open
	batch  []row // taken from the queue and not yet committed
	failed time.Time
	sweep  time.Time // when to cut what is old
	fresh  int       // rows since the last cut
}

// retry is how long the writer waits after an error.
const retry = time.Second

// sweepEvery and sweepRows say how often the writer cuts what is old.
const (
	sweepEvery = time.Minute
	sweepRows  = 20_000
)

func newWriter(l *Ledger) *writer {
	return &writer{l: l, batch: make([]row, 0, l.opt.Batch)}
}

// run writes until the ledger closes.
func (w *writer) run() {
	tick := time.NewTicker(w.l.opt.Every)
	defer tick.Stop()
	w.write() // the file is there before the first row is
	for {
		in := w.l.rows
		if len(w.batch) >= w.l.opt.Batch {
			in = nil // it could not be written: the queue holds what comes
		}
		select {
		case r := <-in:
			w.batch = append(w.batch, r)
			if len(w.batch) >= w.l.opt.Batch {
				w.write()
			}
		case now := <-tick.C:
			w.write()
			w.cut(now)
		case <-w.l.closing:
			w.finish()
			return
		}
	}
}

// write opens the file where it must and commits the batch. After an error
// the batch stays, and nothing is tried for a while.
func (w *writer) write() {
	if time.Since(w.failed) < retry {
		return
	}
	w.enter()
	err := w.attempt()
	w.leave(err)
	if err != nil {
		w.failed = time.Now()
	}
}

// attempt writes the batch. Where the file is gone or damaged it goes on with
// a new one; twice, because the new one may meet the same.
func (w *writer) attempt() error {
	var err error
	for range 3 {
		if err = w.once(); err == nil {
			return nil
		}
		if again, e := w.renew(err); !again {
			return e
		}
	}
	return err
}

// renew does what an error of the open file asks for. again says that the
// next try begins a new file.
func (w *writer) renew(err error) (again bool, _ error) {
	switch {
	case errors.Is(err, errGone):
		w.drop()
		w.note("%v at %s, begun anew", err, time.Now().Format(time.TimeOnly))
		return true, nil
	case corrupt(err):
		w.drop()
		to, e := setAside(w.l.path)
		if e != nil {
			return false, fmt.Errorf("%w; %w", err, e)
		}
		w.note("%s was damaged: moved to %s, begun anew", filepath.Base(w.l.path), filepath.Base(to))
		return true, nil
	case !busy(err):
		w.drop() // what is open may be half broken
	}
	return false, err
}

// once is one try: open, look, commit, look again. A batch that went into a
// file which was deleted meanwhile counts as not written.
func (w *writer) once() error {
	if w.file == nil {
		f, err := openFile(w.l.path)
		if err != nil {
			return err
		}
		w.file = f
		if err := w.learn(); err != nil {
			return err
		}
	}
	if err := w.file.sound(); err != nil {
		return err
	}
	if len(w.batch) == 0 {
		return nil
	}
	dropped, why, err := w.file.insert(w.batch)
	if err != nil {
		return err
	}
	if err := w.file.sound(); err != nil {
		return err
	}
	w.fresh += len(w.batch)
	w.settle()
	if why != nil {
		for k, n := range dropped {
			w.l.lost(kind(k), n, why.Error())
		}
	}
	return nil
}

// learn tells the store of raw turns what the file holds.
func (w *writer) learn() error {
	if w.l.raw == nil {
		return nil
	}
	return w.l.raw.learn(w.file)
}

// settle empties a batch that was committed, and tells those who wait for it.
func (w *writer) settle() {
	forgot := false
	for _, r := range w.batch {
		_, is := r.(*forgetRow)
		forgot = forgot || is
	}
	if forgot {
		w.file.truncate()
	}
	for i, r := range w.batch {
		if r, ok := r.(*forgetRow); ok {
			close(r.done)
		}
		w.l.bytes.Add(-r.size())
		w.batch[i] = nil
	}
	w.batch = w.batch[:0]
}

// drop closes the file; the next attempt opens it again.
func (w *writer) drop() {
	if w.file != nil {
		_ = w.file.close() // its error is the one we come from
		w.file = nil
		w.l.peek.reset() // the path may lead to another one next time
	}
}

// cut sweeps when it is time to, and looks whether others can read what was
// written.
func (w *writer) cut(now time.Time) {
	due := !now.Before(w.sweep) || w.fresh >= sweepRows
	if w.file == nil || !due || time.Since(w.failed) < retry {
		return
	}
	w.enter()
	more, err := false, w.file.read()
	if err == nil {
		more, err = w.file.sweep(w.l.opt, now)
	}
	if err == nil && w.l.raw != nil && w.l.raw.known.many() {
		err = w.learn()
	}
	if err != nil {
		_, err = w.renew(err) // nil when the next write begins a new file
	}
	w.leave(err)
	if err != nil {
		w.failed = now
		return
	}
	if !more {
		w.sweep, w.fresh = now.Add(sweepEvery), 0
	}
}

// finish commits what is queued and closes the file. Nothing is queued any
// more when it is called.
func (w *writer) finish() {
	w.failed = time.Time{}
	for w.failed.IsZero() {
		for len(w.batch) < w.l.opt.Batch && len(w.l.rows) > 0 {
			w.batch = append(w.batch, <-w.l.rows)
		}
		if len(w.batch) == 0 {
			break
		}
		w.write()
	}
	w.drop()
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	for len(w.l.rows) > 0 {
		w.batch = append(w.batch, <-w.l.rows)
	}
	for _, r := range w.batch {
		w.l.lose(r.kind(), 1, w.l.health.fault)
	}
}

// enter marks that the writer is in SQLite's hands.
func (w *writer) enter() {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.health.since = time.Now()
}

// leave marks that it is back, and what came of it.
func (w *writer) leave(err error) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.health.since = time.Time{}
	w.l.health.fault = ""
	if err != nil {
		w.l.health.fault = fmt.Sprintf("write %s: %v", filepath.Base(w.l.path), err)
	}
}

// note keeps what happened to the file, for Health.
func (w *writer) note(format string, args ...any) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.health.note = clip(fmt.Sprintf(format, args...), maxText)
}
