package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// writer owns the file and the rows that left the queue. It is one goroutine.
type writer struct {
	l      *Ledger
	file   *file // nil when it is not open
	opened bool  // a file was opened before
	batch  []row // taken from the queue and not yet committed
	taken  []row // batch as it was taken; its memory is used again
	failed time.Time
	looked time.Time // when the file was last looked at
	swept  time.Time // when what is old was last cut; zero is that some is left
	fresh  int       // rows since the last cut
	ages   ages
}

// retry is how long the writer waits after an error.
const retry = time.Second

// lookEvery is how often an idle writer looks whether the file is still
// there, in times of Options.Every: at moments when the daemon is awake for
// its workers too.
const lookEvery = 16

// sweepEvery and sweepRows say how often the writer cuts what is old, and
// idleSweep how often while nothing new is written.
const (
	sweepEvery = time.Minute
	idleSweep  = 10 * time.Minute
	sweepRows  = 20_000
)

func newWriter(l *Ledger) *writer { return &writer{l: l} }

// run writes until the ledger closes. The first row of a batch sets the clock,
// so that an idle ledger sleeps.
func (w *writer) run() {
	w.write() // the file is there before the first row is
	due := time.NewTimer(w.l.opt.Every)
	defer due.Stop()
	look := time.NewTimer(w.l.opt.Every) // for what an earlier daemon left
	defer look.Stop()
	waiting := true
	for {
		select {
		case <-w.l.stir:
			switch {
			case w.full():
				w.write()
			case !waiting:
				due.Reset(w.l.opt.Every)
				waiting = true
			}
		case <-due.C:
			waiting = false
			w.write()
		case <-look.C:
			w.look()
			look.Reset(w.pause())
		case <-w.l.closing:
			w.finish()
			return
		}
		if !waiting && w.waits() {
			due.Reset(w.l.opt.Every)
			waiting = true
		}
	}
}

// full reports whether a whole batch waits.
func (w *writer) full() bool {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	return len(w.l.queue.rows) >= w.l.opt.Batch
}

// waits reports whether anything waits to be written.
func (w *writer) waits() bool {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	return w.l.queue.len() > 0
}

// look sees after the file where nothing was written lately, and cuts what is
// old.
func (w *writer) look() {
	now := time.Now()
	if now.Sub(w.looked) >= w.l.opt.Every || w.file == nil {
		w.write()
	}
	w.cut(now)
}

// pause is the time to the next look: a sweep that was not done goes on soon.
func (w *writer) pause() time.Duration {
	if w.file == nil || w.swept.IsZero() {
		return w.l.opt.Every
	}
	every := lookEvery * w.l.opt.Every
	return every - time.Duration(time.Now().UnixNano())%every
}

// write opens the file where it must and commits what waits. After an error
// it stays, and nothing is tried for a while.
func (w *writer) write() {
	if time.Since(w.failed) < retry {
		return
	}
	if len(w.batch) == 0 {
		w.l.mu.Lock()
		w.taken = w.l.queue.take(w.taken[:0])
		w.l.mu.Unlock()
		w.batch = w.taken
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
		if err := w.open(); err != nil {
			w.unknown()
			return err
		}
	}
	w.looked = time.Now()
	if err := w.file.sound(); err != nil {
		return err
	}
	for len(w.batch) > 0 {
		n := min(len(w.batch), w.l.opt.Batch)
		o, err := w.file.insert(w.batch[:n])
		if err != nil {
			return err
		}
		if err := w.file.sound(); err != nil {
			return err
		}
		w.settle(n, o)
	}
	return nil
}

// open opens the file and takes over what is there.
func (w *writer) open() error {
	f, err := openFile(w.l.path)
	if err != nil {
		return err
	}
	w.file = f
	take := f.bury
	if w.opened {
		take = f.recall
	}
	for _, step := range []func() error{w.learn, f.check, take} { // turns may wait for what is learned
		if err := step(); err != nil {
			w.drop()
			return err
		}
	}
	w.opened = true
	return nil
}

// learn tells the store of raw turns what the file holds.
func (w *writer) learn() error {
	if w.l.raw == nil {
		return nil
	}
	return w.l.raw.learn(w.file)
}

// unknown tells it that this cannot be known now.
func (w *writer) unknown() {
	if w.l.raw != nil {
		w.l.raw.known.giveUp()
	}
}

// settle lets go of the first n rows, which were committed, and tells those
// who wait for it.
func (w *writer) settle(n int, o outcome) {
	rows := w.batch[:n]
	w.fresh += n
	w.l.raw.written(rows, o.placed)
	if slices.ContainsFunc(rows, func(r row) bool { _, is := r.(*forgetRow); return is }) {
		w.file.truncate()
	}
	var size int64
	for i, r := range rows {
		if r, ok := r.(*forgetRow); ok {
			close(r.done)
		}
		size += r.size()
		rows[i] = nil
	}
	w.batch = w.batch[n:]
	w.l.bytes.Add(-size)
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.queue.busy -= n
	for k, n := range o.dropped {
		if n > 0 {
			w.l.lose(kind(k), n, o.why.Error())
		}
	}
}

// drop closes the file; the next attempt opens it again.
func (w *writer) drop() {
	if w.file != nil {
		_ = w.file.close() // its error is the one we come from
		w.file = nil
	}
	w.l.peek.reset() // the path may lead to another one next time
}

// cut sweeps when it is time to, and looks whether others can read what was
// written.
func (w *writer) cut(now time.Time) {
	every := sweepEvery
	if w.fresh == 0 {
		every = idleSweep
	}
	due := now.Sub(w.swept) >= every || w.fresh >= sweepRows
	if w.file == nil || !due || time.Since(w.failed) < retry {
		return
	}
	w.enter()
	more, err := false, w.file.read()
	if err == nil {
		more, err = w.file.sweep(w.l.opt, w.ages.time(now))
	}
	if err == nil && w.l.raw != nil && w.l.raw.known.stale() {
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
	w.swept, w.fresh = now, 0
	if more {
		w.swept = time.Time{}
	}
}

// finish commits what is queued and closes the file. Nothing is queued any
// more when it is called.
func (w *writer) finish() {
	for w.failed = (time.Time{}); w.failed.IsZero() && w.waits(); {
		w.write()
	}
	w.drop()
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.batch = w.l.queue.take(w.batch)
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
