package ledger

import (
	"testing"
)

// begunAs is the first form of the n-th turn.
func begunAs(n int) Turn {
	t := turnOf(n)
	t.Outcome, t.Output, t.Error = "", 0, ""
	return t
}

// A turn is one row, whether its two forms meet in the queue, in one file, or
// with a batch between them.
func TestATurnIsOneRow(t *testing.T) {
	l, path := begin(t, quick)
	written(t, l, path, 0)
	release := hold(t, path)
	for n := range 3 {
		l.Turn(begunAs(n))
	}
	l.Turn(turnOf(1))
	l.mu.Lock()
	if n := l.queue.len(); n != 3 {
		t.Errorf("%d rows wait, want 3", n)
	}
	l.mu.Unlock()
	release()
	written(t, l, path, 3)
	until(t, "an empty queue", func() bool { return l.bytes.Load() == 0 })
	for _, x := range []Turn{begunAs(0), turnOf(0), turnOf(2)} {
		l.Turn(x)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := look(t, path).Turns(t.Context(), Query{})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d turns, %v", len(got), err)
	}
	for n, x := range got {
		if want := turnOf(n); x.ID != want.ID || x.Outcome != want.Outcome || x.Output != want.Output {
			t.Errorf("turn %d is %+v", n, x)
		}
	}
}

// What comes after the word that a session is to go is kept, though the turn
// had begun before.
func TestATurnThatEndsAfterItWasForgotten(t *testing.T) {
	l, path := begin(t, quick)
	written(t, l, path, 0)
	release := hold(t, path)
	l.Turn(begunAs(1))
	l.Turn(begunAs(2))
	done := make(chan Forgotten, 1)
	go func() {
		f, err := l.Forget(t.Context(), "s1")
		if err != nil {
			t.Error(err)
		}
		done <- f
	}()
	until(t, "the word in the queue", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.queue.len() == 3
	})
	l.Turn(turnOf(1))
	release()
	if f := <-done; f.Turns != 2 || f.Agents != 1 {
		t.Errorf("forgot %+v", f)
	}
	written(t, l, path, 1)
}

// A row that cannot be written takes no other's place, and no other its
// place.
func TestBegunTurnsOutliveAFailedBatch(t *testing.T) {
	f, _ := filledFile(t, 2, 1)
	x, y := begunAs(10), turnOf(10)
	if _, err := f.insert([]row{&x}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.conn.ExecContext(t.Context(), "ALTER TABLE workers RENAME TO away"); err != nil {
		t.Fatal(err)
	}
	o, err := f.insert([]row{&WorkerEvent{At: noon, Worker: "w0"}, &y})
	if err != nil || o.dropped[books] != 1 || o.why == nil {
		t.Errorf("%+v, %v; want one row dropped", o, err)
	}
	if n := f.count(t, "turns"); n != 3 {
		t.Errorf("%d turns, want 3", n)
	}
}
