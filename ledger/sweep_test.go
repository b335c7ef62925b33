package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// sweepAll sweeps until nothing is left to do.
func sweepAll(t *testing.T, f *file, o Options, now time.Time) {
	t.Helper()
	for n := 0; ; n++ {
		more, err := f.sweep(o.filled(), now)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
		if n == 1000 {
			t.Fatal("the sweep does not end")
		}
	}
}

// filledFile makes a ledger with n turns, each with a lease.
func filledFile(t *testing.T, n, text int) (*file, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.close() })
	var rows []row
	for i := range n {
		x := turnOf(i)
		x.Session = fmt.Sprintf("s%d", i/100)
		x.Error = strings.Repeat("e", text)
		rows = append(rows, &x, &Lease{ID: "l", Turn: x.ID, At: x.At}, &WorkerEvent{At: x.At, Worker: x.Session})
	}
	if _, err := f.insert(rows); err != nil {
		t.Fatal(err)
	}
	return f, path
}

func (f *file) counts(t *testing.T) (n [6]int) {
	t.Helper()
	for i, table := range []string{"turns", "leases", "worker_events", "sessions", "agents", "workers"} {
		n[i] = f.count(t, table)
	}
	return n
}

// count counts a table's rows.
func (f *file) count(t *testing.T, table string) (n int) {
	t.Helper()
	if err := f.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSweepByAge(t *testing.T) {
	t.Parallel()
	f, _ := filledFile(t, 12_000, 10)
	now := turnOf(12_000).At
	sweepAll(t, f, Options{MaxAge: -1, MaxBytes: -1}, now)
	if got, want := f.counts(t), [6]int{12_000, 12_000, 12_000, 120, 120, 120}; got != want {
		t.Errorf("kept for ever: %v", got)
	}
	sweepAll(t, f, Options{MaxAge: 150 * time.Second}, now)
	if got, want := f.counts(t), [6]int{150, 150, 150, 2, 2, 2}; got != want {
		t.Errorf("left %v, want %v", got, want)
	}
	sweepAll(t, f, Options{MaxAge: time.Second}, now.Add(time.Hour))
	if got := f.counts(t); got != [6]int{} {
		t.Errorf("left %v", got)
	}
}

func TestSweepBySize(t *testing.T) {
	t.Parallel()
	f, path := filledFile(t, 20_000, 400)
	const limit = 2 << 20
	was, err := f.live()
	if err != nil || was < 2*limit {
		t.Fatalf("%d bytes, %v", was, err)
	}
	now := turnOf(20_000).At
	sweepAll(t, f, Options{MaxBytes: limit}, now)
	live, err := f.live()
	if err != nil || live > limit || live < limit/4 {
		t.Errorf("%d of %d bytes live, %v", live, was, err)
	}
	n := f.counts(t)
	if n[0] == 0 || n[0] != n[1] {
		t.Errorf("left %v", n)
	}
	var oldest string
	if err := f.conn.QueryRowContext(t.Context(), "SELECT id FROM turns ORDER BY at LIMIT 1").Scan(&oldest); err != nil ||
		oldest != turnOf(20_000-n[0]).ID {
		t.Errorf("the oldest of %d is %s, %v", n[0], oldest, err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > limit+1<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

// TestSweepRuns lets the writer itself sweep.
func TestSweepRuns(t *testing.T) {
	l, path := begin(t, Options{Every: 5 * time.Millisecond, MaxAge: time.Hour})
	x := turnOf(1)
	x.At = time.Now().Add(-2 * time.Hour)
	y := turnOf(2)
	y.At = time.Now()
	l.Turn(x)
	l.Turn(y)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = Open(path, Options{Every: 5 * time.Millisecond, MaxAge: time.Hour})
	defer l.Close()
	until(t, "the sweep", func() bool { return turns(path) == 1 })
}

// TestManyWriters writes, reads and asks from many goroutines, and closes
// meanwhile: every turn is written or counted.
func TestManyWriters(t *testing.T) {
	l, path := begin(t, Options{Every: 5 * time.Millisecond, Rows: 500})
	var g sync.WaitGroup
	for i := range 8 {
		g.Go(func() {
			for n := range 2000 {
				l.Turn(turnOf(i*2000 + n))
				if n%500 == 0 {
					l.Health()
					turns(path)
				}
				if i == 7 && n == 1500 {
					_ = l.Close()
				}
			}
		})
	}
	g.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if have, lost := turns(path), l.Health().Lost; have+int(lost) != 16_000 {
		t.Errorf("%d turns and %d lost of 16000", have, lost)
	}
}

func BenchmarkTurn(b *testing.B) {
	l := Open(filepath.Join(b.TempDir(), "ledger.db"), Options{Rows: 1 << 20, Bytes: 1 << 40})
	x := turnOf(1)
	b.ReportAllocs()
	for b.Loop() {
		l.Turn(x)
	}
	b.StopTimer()
	_ = l.Close()
}
