package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger/blob"
	"github.com/agentinfer/dyn/turn"
)

// rawOf makes the n-th raw turn, of session s<n/10>.
func rawOf(n int) turn.RawTurn {
	ids := make([]uint32, n%40)
	for i := range ids {
		ids[i] = uint32(n * (i + 1) * 7919)
	}
	return turn.RawTurn{
		Model: "sim", Key: uint64(n) * 0x9e3779b97f4a7c15, Session: fmt.Sprintf("s%d", n/10),
		Opening: []uint32{1, uint32(n)}, IDs: ids, Thinking: strings.Repeat("hm ", n%5), At: noon,
	}
}

// storedOf makes the n-th response.
func storedOf(n int) turn.Stored {
	return turn.Stored{
		ID: fmt.Sprintf("resp_%d", n), Tenant: "alice", Session: fmt.Sprintf("s%d", n/10), Previous: "resp_0", Model: "sim",
		Input: json.RawMessage(`[{"role":"user","content":"é"}]`), Document: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)),
		At: noon, Expires: noon.Add(time.Hour),
	}
}

// afresh is an empty memory in front of the same file, as after a restart,
// once all is written.
func afresh(l *Ledger) {
	for l.bytes.Load() > 0 {
		<-time.After(time.Millisecond)
	}
	l.responses = newResponses(l)
}

// found waits until a raw turn is found: a disk that is busy may take longer
// than a turn would wait.
func found(t *testing.T, l *Ledger, key uint64) (r turn.RawTurn) {
	t.Helper()
	until(t, fmt.Sprintf("raw turn %x", key), func() bool {
		var ok bool
		r, ok = l.Raw().Find("sim", key)
		return ok
	})
	return r
}

// inFile waits until a table has so many rows.
func inFile(t *testing.T, path, table string, want int) {
	t.Helper()
	until(t, fmt.Sprintf("%d rows of %s", want, table), func() bool { return rowsIn(path, table) == want })
}

// rowsIn counts the rows of a table, -1 when the file cannot be read.
func rowsIn(path, table string) int {
	r, err := OpenReader(path)
	if err != nil {
		return -1
	}
	defer r.Close()
	var n int
	if r.db.QueryRow("SELECT count(*) FROM "+table).Scan(&n) != nil {
		return -1
	}
	return n
}

func sameRaw(a, b turn.RawTurn) bool {
	return a.Model == b.Model && a.Key == b.Key && a.Session == b.Session && a.Thinking == b.Thinking && a.At.Equal(b.At) &&
		fmt.Sprint(a.Opening, a.IDs) == fmt.Sprint(b.Opening, b.IDs)
}

func TestRawTurnsComeBack(t *testing.T) {
	l, path := begin(t, quick)
	const n = 300 // more than a batch
	for i := range n {
		l.Raw().Keep(rawOf(i))
	}
	l.Raw().Keep(turn.RawTurn{Model: "sim", Key: 1, IDs: []uint32{5}})
	if got, ok := l.Raw().Find("sim", 1); !ok || got.At.IsZero() {
		t.Errorf("one without a time: %+v %v", got, ok)
	}
	again := rawOf(7)
	again.IDs = []uint32{0, 1, 1<<32 - 1}
	l.Raw().Keep(again)
	inFile(t, path, "(SELECT DISTINCT model, key FROM raw_turns)", n+1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = Open(path, quick) // the next daemon
	defer l.Close()
	for i := range n {
		want := rawOf(i)
		if i == 7 {
			want = again
		}
		if got := found(t, l, want.Key); !sameRaw(got, want) {
			t.Fatalf("%d: got %+v, want %+v", i, got, want)
		}
	}
	for _, c := range []struct {
		model string
		key   uint64
	}{{"sim", 5}, {"other", rawOf(1).Key}, {"", 0}} {
		if got, ok := l.Raw().Find(c.model, c.key); ok {
			t.Errorf("%q %d: got %+v, want none", c.model, c.key, got)
		}
	}
}

// What is kept is found at once, whether or not the file can be written.
func TestContentIsReadableBeforeItIsOnDisk(t *testing.T) {
	l, path := begin(t, quick)
	until(t, "the file", func() bool { return turns(path) == 0 })
	release := hold(t, path)
	for i := range 20 {
		l.Raw().Keep(rawOf(i))
		l.Responses().Keep(storedOf(i))
		if got, ok := l.Raw().Find("sim", rawOf(i).Key); !ok || !sameRaw(got, rawOf(i)) {
			t.Fatalf("raw turn %d: got %+v %v", i, got, ok)
		}
		got, ok, err := l.Responses().Stored(t.Context(), storedOf(i).ID)
		if err != nil || !ok || !reflect.DeepEqual(got, storedOf(i)) {
			t.Fatalf("response %d: got %+v %v %v", i, got, ok, err)
		}
	}
	if n := l.Memory(); n < 20*(256+512) {
		t.Errorf("it takes %d bytes", n)
	}
	release()
	inFile(t, path, "responses", 20)
	inFile(t, path, "raw_turns", 20)
	if h := l.Health(); h.LostRaw+h.LostResponses != 0 {
		t.Errorf("health = %+v", h)
	}
}

// Before the file is begun nothing is kept in it, and that is no error.
func TestStoredBeforeTheFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"none": "", "empty": "x"} {
		path := filepath.Join(dir, name)
		l := &Ledger{path: path, peek: &peek{path: path}}
		if text != "" {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok, err := newResponses(l).Stored(t.Context(), "resp_1"); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		l.peek.reset()
	}
}

// With a file that is none, responses hold until the end, and what is lost is
// counted by its kind.
func TestContentWithoutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	o := quick
	o.Rows = 4
	l := Open(path, o)
	until(t, "the fault", func() bool { return !l.Health().OK })
	for i := range 10 {
		l.Responses().Keep(storedOf(i))
	}
	for i := range 10 {
		l.Raw().Keep(rawOf(i))
	}
	for i := range 10 {
		if got, ok, err := l.Responses().Stored(t.Context(), storedOf(i).ID); err != nil || !ok || got.ID != storedOf(i).ID {
			t.Errorf("response %d: %+v %v %v", i, got, ok, err)
		}
	}
	if _, ok, err := l.Responses().Stored(t.Context(), "resp_99"); ok || err == nil {
		t.Errorf("one that nobody knows of: %v %v, want an error", ok, err)
	}
	if _, ok := l.Raw().Find("sim", 99); ok {
		t.Error("a raw turn came from nowhere")
	}
	l.Turn(turnOf(1))
	_ = l.Close()
	if h := l.Health(); h.LostResponses != 10 || h.LostRaw != 10 || h.Lost != 1 {
		t.Errorf("health = %+v, want everything counted", h)
	}
}

func TestResponses(t *testing.T) {
	l, path := begin(t, quick)
	s := l.Responses()
	old := storedOf(3)
	old.Expires = time.Now().Add(-time.Second)
	bare := turn.Stored{ID: "resp_bare", Expires: storedOf(0).Expires}
	for _, r := range []turn.Stored{storedOf(1), storedOf(2), old, bare, storedOf(4)} {
		s.Keep(r)
	}
	s.Drop("mallory", "resp_1")
	s.Drop("alice", "resp_2")
	look := func(when string) {
		t.Helper()
		for id, want := range map[string]bool{"resp_1": true, "resp_2": false, "resp_3": false, "resp_4": true, "resp_bare": true, "": false} {
			var got turn.Stored
			var ok bool
			until(t, "an answer", func() bool { // the disk may be busy
				var err error
				got, ok, err = s.Stored(t.Context(), id)
				return err == nil
			})
			if ok != want || ok && got.ID != id {
				t.Errorf("%s: %s: %+v %v, want %v", when, id, got, ok, want)
			}
		}
	}
	look("in memory")
	afresh(l)
	s = l.Responses()
	look("in the file")
	s.Drop("mallory", "resp_4")
	look("after somebody else's drop")
	s.Drop("alice", "resp_4")
	if _, ok, err := s.Stored(t.Context(), "resp_4"); ok || err != nil {
		t.Errorf("dropped: %v %v", ok, err)
	}
	inFile(t, path, "responses WHERE id <> 'resp_3'", 2)
}

func TestForget(t *testing.T) {
	l, path := begin(t, quick)
	secret := "the-secret-thought"
	for i := range 20 {
		raw := rawOf(i)
		raw.Thinking += secret
		l.Raw().Keep(raw)
		l.Responses().Keep(storedOf(i))
		x := turnOf(i)
		x.Session = fmt.Sprintf("s%d", i/10)
		l.Turn(x)
		l.Lease(Lease{ID: "l", Turn: x.ID, At: x.At, Session: x.Session})
		l.Agent(AgentEvent{At: x.At, Session: x.Session, Agent: "main", Event: "tool"})
	}
	got, err := l.Forget(t.Context(), "s1")
	if want := (Forgotten{Turns: 10, Agents: 1, Leases: 10, Events: 10, RawTurns: 10, Responses: 10}); err != nil || got != want {
		t.Errorf("forgot %+v, %v; want %+v", got, err, want)
	}
	for i := range 20 {
		_, raw := l.Raw().Find("sim", rawOf(i).Key)
		_, stored, err := l.Responses().Stored(t.Context(), storedOf(i).ID)
		if want := i < 10; raw != want || stored != want || err != nil {
			t.Errorf("%d: raw %v, stored %v, %v; want %v", i, raw, stored, err, want)
		}
	}
	if got, err := l.Forget(t.Context(), "s1"); err != nil || got.Any() {
		t.Errorf("again: %+v, %v", got, err)
	}
	if _, err := l.Forget(t.Context(), ""); err == nil {
		t.Error("a session without a name was forgotten")
	}
	if _, err := l.Forget(t.Context(), "s0"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{path, path + "-wal"} {
		if data, err := os.ReadFile(f); err != nil || strings.Contains(string(data), secret) {
			t.Errorf("%s still holds what was forgotten (%v)", filepath.Base(f), err)
		}
	}
}

func TestForgetWithoutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	l := Open(path, quick)
	until(t, "the fault", func() bool { return !l.Health().OK })
	done := make(chan error, 1)
	go func() {
		_, err := l.Forget(t.Context(), "s1")
		done <- err
	}()
	until(t, "the word in the queue", func() bool { return l.bytes.Load() > 0 })
	_ = l.Close()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("error is %v, want what keeps it", err)
	}
}

// TestRawTurnsOff keeps none, and removes those that are there.
func TestRawTurnsOff(t *testing.T) {
	l, path := begin(t, quick)
	l.Raw().Keep(rawOf(1))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o := quick
	o.RawAge = -1
	l = Open(path, o)
	defer l.Close()
	l.Raw().Keep(rawOf(2))
	for _, n := range []int{1, 2} {
		if _, ok := l.Raw().Find("sim", rawOf(n).Key); ok {
			t.Errorf("%d was found", n)
		}
	}
	inFile(t, path, "raw_turns", 0)
}

func TestContentExpires(t *testing.T) {
	f, err := openFile(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var rows []row
	for i := range 100 {
		raw, stored := rawOf(i), storedOf(i)
		raw.At = noon.Add(time.Duration(i) * time.Minute)
		stored.At, stored.Expires = raw.At, raw.At.Add(time.Hour)
		stored.Document = json.RawMessage(`"` + strings.Repeat("x", 10_000-len(stored.Input)-2) + `"`)
		rows = append(rows, &rawRow{raw}, &storedRow{Stored: stored})
	}
	if _, err := f.insert(rows); err != nil {
		t.Fatal(err)
	}
	count := func() (raw, stored int) {
		t.Helper()
		err := f.conn.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM raw_turns), (SELECT count(*) FROM responses)").Scan(&raw, &stored)
		if err != nil {
			t.Fatal(err)
		}
		return raw, stored
	}
	for _, c := range []struct {
		name        string
		o           Options
		at          time.Duration
		raw, stored int
	}{
		{"young", Options{MaxAge: -1, MaxBytes: -1}, 0, 100, 100},
		{"an hour and a half", Options{MaxAge: -1, MaxBytes: -1, RawAge: time.Hour}, 90 * time.Minute, 70, 69},
		{"too many bytes", Options{MaxAge: -1, MaxBytes: 4 * 400_000, RawAge: time.Hour}, 90 * time.Minute, 70, 36},
		{"off", Options{MaxAge: -1, MaxBytes: -1, RawAge: -1}, 0, 0, 36},
		{"long after", Options{MaxAge: -1, MaxBytes: -1}, 100 * time.Hour, 0, 0},
	} {
		sweepAll(t, f, c.o, noon.Add(c.at))
		if raw, stored := count(); raw != c.raw || stored != c.stored {
			t.Errorf("%s: %d raw turns and %d responses, want %d and %d", c.name, raw, stored, c.raw, c.stored)
		}
	}
}

// TestDamagedRawTurn flips a byte of a blob: that turn is gone and counted.
func TestDamagedRawTurn(t *testing.T) {
	l, path := begin(t, quick)
	l.Raw().Keep(rawOf(30))
	inFile(t, path, "raw_turns", 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := blob.Append(nil, &turn.RawTurn{IDs: []uint32{1, 2, 3}})
	data[len(data)-2] ^= 1
	if _, err := f.conn.ExecContext(t.Context(), "UPDATE raw_turns SET data = ?", data); err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	l = Open(path, quick)
	defer l.Close()
	until(t, "the file", func() bool { return turns(path) == 0 })
	until(t, "the loss", func() bool {
		if got, ok := l.Raw().Find("sim", rawOf(30).Key); ok {
			t.Errorf("found %+v", got)
		}
		return l.Health().LostRaw > 0
	})
	if h := l.Health(); h.LostRaw != 1 || !strings.Contains(h.Why, "damaged") {
		t.Errorf("health = %+v, want one lost", h)
	}
}

func BenchmarkFind(b *testing.B) {
	l := Open(filepath.Join(b.TempDir(), "ledger.db"), Options{Rows: 20_000})
	defer l.Close()
	const n = 10_000
	for i := range n {
		l.Raw().Keep(rawOf(i))
	}
	afresh(l)
	b.Run("file", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, ok := l.Raw().Find("sim", rawOf(i%n).Key); !ok {
				b.Fatalf("%d is not found", i%n)
			}
		}
	})
	b.Run("file, none", func(b *testing.B) {
		for i := uint64(2); b.Loop(); i++ {
			l.Raw().Find("sim", i)
		}
	})
}
