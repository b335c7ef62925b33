package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// outside runs a shell command: what it opens and closes does not touch this
// process's locks.
func outside(t *testing.T, command, path string) {
	t.Helper()
	c := exec.Command("sh", "-c", command)
	c.Env = append(os.Environ(), "F="+path)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// written waits until a file holds n turns and nothing is wrong.
func written(t *testing.T, l *Ledger, path string, n int) {
	t.Helper()
	until(t, "turns in the file", func() bool { return turns(path) == n })
	until(t, "health", func() bool { return l.Health().OK })
}

// hold takes the write lock of a file until the returned function is called.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path, "rw")+"&_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	var tx *sql.Tx
	until(t, "the lock", func() bool {
		tx, err = db.Begin()
		return err == nil
	})
	return func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
}

func TestLocked(t *testing.T) {
	t.Parallel()
	l, path := begin(t, Options{Every: 5 * time.Millisecond, Rows: 40, Batch: 8})
	l.Turn(turnOf(0))
	written(t, l, path, 1)
	release := hold(t, path)
	for n := 1; n <= 20; n++ {
		l.Turn(turnOf(n))
	}
	until(t, "the fault", func() bool { return !l.Health().OK })
	if h := l.Health(); !strings.Contains(h.Why, "locked") || h.Lost != 0 {
		t.Errorf("health = %+v", h)
	}
	for n := 21; n <= 1020; n++ { // none waits: the file stays locked until release
		l.Turn(turnOf(n))
	}
	lost := int(l.Health().Lost)
	if lost < 1020-48 || lost >= 1020-20 {
		t.Errorf("lost %d", lost)
	}
	release()
	written(t, l, path, 1021-lost)
	if h := l.Health(); h.Lost != int64(lost) || !strings.Contains(h.Why, "locked") {
		t.Errorf("health afterwards = %+v", h)
	}
}

func TestLockedToTheEnd(t *testing.T) {
	t.Parallel()
	l, path := begin(t, quick)
	written(t, l, path, 0)
	release := hold(t, path)
	defer release()
	for n := range 5 {
		l.Turn(turnOf(n))
	}
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "5 rows lost") {
		t.Errorf("close = %v", err)
	}
	if h := l.Health(); h.Lost != 5 || h.OK {
		t.Errorf("health = %+v", h)
	}
}

func TestQueueBytes(t *testing.T) {
	t.Parallel()
	l, path := begin(t, Options{Every: 5 * time.Millisecond, Bytes: 100_000})
	written(t, l, path, 0)
	release := hold(t, path)
	for n := range 100 {
		x := turnOf(n)
		x.Decision = strings.Repeat("x", 10_000)
		l.Turn(x)
	}
	if h := l.Health(); h.Lost < 90 || h.Lost > 92 {
		t.Errorf("health = %+v", h)
	}
	kept := 100 - int(l.Health().Lost)
	release()
	written(t, l, path, kept)
	until(t, "room", func() bool { return l.bytes.Load() == 0 })
}

// TestFileChanges does to the file what people and disks do while a ledger
// has it open. What notices that one file is gone may remove the others itself.
func TestFileChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, do  string
		kept      int // turns in the file afterwards, of 3 before and 1 after
		note      string
		setsAside bool
	}{
		{"all deleted", `rm -f "$F" "$F-wal" "$F-shm"`, 1, "deleted", false},
		{"folder deleted", `d=$(dirname "$F"); mv "$d" "$d.gone" && rm -rf "$d.gone"`, 1, "deleted", false},
		{"only the file deleted", `rm "$F"`, 1, "deleted", false},
		{"only the log deleted", `rm "$F-wal"`, 4, "deleted", false},
		{"only the log's index deleted", `rm "$F-shm"`, 4, "deleted", false},
		{"log replaced", `cp "$F-wal" "$F.x" && mv "$F.x" "$F-wal"`, 4, "deleted", false},
		{"log written over", `head -c 8192 /dev/urandom | dd of="$F-wal" conv=notrunc 2>/dev/null`, 1, "damaged", true},
		{"moved away", `mv "$F" "$F.old"`, 1, "deleted", false},
		{"written over", `head -c 8192 /dev/urandom > "$F"`, 1, "damaged", true},
		{"cut to nothing", `: > "$F"`, 1, "damaged", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, path := begin(t, quick)
			for n := range 3 {
				l.Turn(turnOf(n))
			}
			written(t, l, path, 3)
			outside(t, c.do, path)
			until(t, "notice", func() bool { return strings.Contains(l.Health().Why, c.note) })
			l.Turn(turnOf(3))
			written(t, l, path, c.kept)
			if h := l.Health(); !h.OK || h.Lost != 0 || !strings.Contains(h.Why, c.note) {
				t.Errorf("health = %+v", h)
			}
			aside, _ := filepath.Glob(path + ".corrupt-*Z")
			if c.setsAside != (len(aside) == 1) {
				t.Errorf("set aside: %v", aside)
			}
		})
	}
}

// TestDamageBehindTheCache writes over what the writer has in memory: only
// other readers meet it, and the writer looks as one of them.
func TestDamageBehindTheCache(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	x := turnOf(1)
	if _, err := f.insert([]row{&x}); err != nil {
		t.Fatal(err)
	}
	if err := f.read(); err != nil {
		t.Fatal(err)
	}
	outside(t, `head -c $(($(stat -c %s "$F-wal") - 32)) /dev/urandom | dd of="$F-wal" bs=32 seek=1 conv=notrunc 2>/dev/null`, path)
	if err := f.sound(); err != nil {
		t.Fatalf("sound = %v", err)
	}
	if err := f.read(); !corrupt(err) {
		t.Errorf("read = %v, want damage", err)
	}
}

// TestDamagedAtOpening begins with files that are no sound database.
func TestDamagedAtOpening(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, do string }{
		{"garbage", `head -c 5000 /dev/urandom > "$F"`},
		{"text", `echo "not a database, much longer than a header would be, with lines and lines" > "$F"`},
		{"half a file", `dd if="$F" of="$F.x" bs=4096 count=5 2>/dev/null; mv "$F.x" "$F"`},
		{"pages overwritten", `head -c 40000 /dev/urandom | dd of="$F" bs=4096 seek=1 conv=notrunc 2>/dev/null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ledger.db")
			l := Open(path, quick)
			for n := range 500 {
				l.Turn(turnOf(n))
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			outside(t, c.do, path)
			l = Open(path, quick)
			defer l.Close()
			l.Turn(turnOf(1))
			written(t, l, path, 1)
			h := l.Health()
			if !strings.Contains(h.Why, "was damaged: moved to ledger.db.corrupt-") {
				t.Errorf("health = %+v", h)
			}
			if aside, _ := filepath.Glob(path + ".corrupt-*Z"); len(aside) != 1 {
				t.Errorf("set aside: %v", aside)
			}
		})
	}
}

func TestAsideIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	for range maxAside + 3 {
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 4096), 0o600); err != nil {
			t.Fatal(err)
		}
		l := Open(path, quick)
		until(t, "a new file", func() bool { return l.Health().Why != "" })
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if aside, _ := filepath.Glob(path + ".corrupt-*Z"); len(aside) != maxAside {
		t.Errorf("set aside: %v", aside)
	}
}

// TestNotOurs leaves files of a newer dyn and of other programs as they are,
// and goes on when they are gone.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, make string
		want       error
	}{
		{"newer", "PRAGMA application_id = 1685679724; PRAGMA user_version = 99; CREATE TABLE turns (x)", ErrNewer},
		{"foreign", "CREATE TABLE bookmarks (x); INSERT INTO bookmarks VALUES (1)", ErrForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ledger.db")
			db, err := sql.Open("sqlite3", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.make); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
			was, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := OpenReader(path); !errors.Is(err, c.want) {
				t.Errorf("reader: %v", err)
			}
			l := Open(path, quick)
			defer l.Close()
			l.Turn(turnOf(1))
			until(t, "the refusal", func() bool { return strings.Contains(l.Health().Why, c.want.Error()) })
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(was, now) {
				t.Errorf("the file was changed (%v)", err)
			}
			if h := l.Health(); h.OK || h.Lost != 0 {
				t.Errorf("health = %+v", h)
			}
			outside(t, `mv "$F" "$F.theirs"`, path)
			written(t, l, path, 1)
		})
	}
}

// TestModeIsNarrowed opens a ledger that others may read.
func TestModeIsNarrowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l := Open(path, quick)
	l.Turn(turnOf(1))
	written(t, l, path, 1)
	defer l.Close()
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

// TestNoPlace opens a ledger where none can be.
func TestNoPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocked := filepath.Join(dir, "state")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(blocked, "ledger.db")
	l := Open(path, quick)
	defer l.Close()
	l.Turn(turnOf(1))
	until(t, "the fault", func() bool { return !l.Health().OK })
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	written(t, l, path, 1)
}

// TestMigration begins at the first schema and with one that fails.
func TestMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	ctx := context.Background()
	newest := len(schema())
	if err := apply(ctx, f.conn, "CREATE TABLE more (x); SELECT nonsense FROM nowhere", newest+1); err == nil {
		t.Error("nonsense was applied")
	}
	if v, err := known(ctx, f.conn); err != nil || v != newest {
		t.Errorf("version %d, %v", v, err)
	}
	if err := apply(ctx, f.conn, "CREATE TABLE more (x)", newest); err != nil {
		t.Errorf("the failed migration left something: %v", err)
	}
}
