package ledger

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childs are what this test program does when a test starts it again, with
// the ledger's path in LEDGER_TEST_PATH.
var childs = map[string]func(){
	"writes": childWrites,
	"full":   childFull,
	"keeps":  childKeeps,
}

// child starts this test program again to do one of childs.
func child(t *testing.T, do, path string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "LEDGER_TEST_CHILD="+do, "LEDGER_TEST_PATH="+path)
	c.Stderr = os.Stderr
	return c
}

// childWrites writes a turn every two milliseconds, with the default options,
// and prints the number of each that was handed over.
func childWrites() {
	l := Open(os.Getenv("LEDGER_TEST_PATH"), Options{})
	for n := 0; ; n++ {
		l.Turn(turnOf(n))
		fmt.Println(n)
		<-time.After(2 * time.Millisecond)
	}
}

// killed runs a child that prints a number for each row, and kills it when a
// table has some of them: the child is in the middle of its next batch then.
// It returns how many rows were handed over at least.
func killed(t *testing.T, do, path, table string, some int) (handed int) {
	t.Helper()
	c := child(t, do, path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	read := make(chan int, 1)
	go func() {
		n := 0
		for s := bufio.NewScanner(out); s.Scan(); n++ {
		}
		read <- n
	}()
	until(t, "rows in the file", func() bool { return rowsIn(path, table) >= some })
	_ = c.Process.Kill()
	handed = <-read
	_ = c.Wait()
	return handed
}

// TestKill kills a writing process: a commit comes by itself in a fraction of
// a second, and of the turns of which there was one none is lost.
func TestKill(t *testing.T) {
	t.Parallel()
	const some = 200
	path := filepath.Join(t.TempDir(), "ledger.db")
	handed := killed(t, "writes", path, "turns", some)
	all, err := look(t, path).Turns(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	have := len(all)
	t.Logf("%d turns handed over, %d in the file", handed, have)
	ids := map[string]bool{}
	for _, x := range all {
		ids[x.ID] = true
	}
	for n := range have { // those that came first, without a hole
		if !ids[turnOf(n).ID] {
			t.Fatalf("turn %d of %d is not there", n, have)
		}
	}
	if have < some || have > handed+1 {
		t.Errorf("%d turns are in the file, want from %d to %d", have, some, handed)
	}
	if every := (Options{}).filled().Every; every > time.Second/4 {
		t.Errorf("a commit comes after %v: with what it takes itself that may be more than a second", every)
	}
	l := Open(path, quick) // and it goes on
	l.Turn(turnOf(1 << 20))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := turns(path); n != have+1 {
		t.Errorf("%d turns afterwards, want %d", n, have+1)
	}
}

// childKeeps keeps a raw turn every millisecond and prints the number of each
// that was handed over.
func childKeeps() {
	l := Open(os.Getenv("LEDGER_TEST_PATH"), Options{})
	for n := 0; ; n++ {
		l.Raw().Keep(rawOf(n))
		fmt.Println(n)
		<-time.After(time.Millisecond)
	}
}

// TestKillLosesNoOldRawTurn kills a process between two batches: all raw turns
// of the earlier ones are there, and what is there is whole.
func TestKillLosesNoOldRawTurn(t *testing.T) {
	t.Parallel()
	const some = 200
	path := filepath.Join(t.TempDir(), "ledger.db")
	handed := killed(t, "keeps", path, "raw_turns", some)
	l := Open(path, quick)
	defer l.Close()
	for n := range handed {
		want := rawOf(n)
		want.At = time.Time{} // the child's noon is another
		got, ok := l.Raw().Find("sim", want.Key)
		if !ok && n < some {
			got = found(t, l, want.Key)
		} else if !ok {
			continue
		}
		if got.At = want.At; !sameRaw(got, want) {
			t.Fatalf("%d came back as %+v, want %+v", n, got, want)
		}
	}
	if h := l.Health(); h.LostRaw != 0 {
		t.Errorf("health = %+v", h)
	}
}

// childFull may not let a file grow beyond a limit, which is what a full disk
// looks like, then may again.
func childFull() {
	signal.Ignore(syscall.SIGXFSZ)
	path := os.Getenv("LEDGER_TEST_PATH")
	l := Open(path, Options{Every: 5 * time.Millisecond, Rows: 4000})
	wait := func(what string, ok func() bool) {
		for end := time.Now().Add(time.Minute); !ok(); <-time.After(2 * time.Millisecond) {
			if time.Now().After(end) {
				fmt.Println("waited too long:", what, l.Health())
				os.Exit(1)
			}
		}
	}
	var was unix.Rlimit
	must(unix.Getrlimit(unix.RLIMIT_FSIZE, &was))
	must(unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 512 << 10, Max: was.Max}))
	n := 0
	for ; n < 3000; n++ {
		x := turnOf(n)
		x.Error = strings.Repeat("e", 1000)
		l.Turn(x)
	}
	wait("the fault", func() bool { return !l.Health().OK })
	fmt.Println("full:", l.Health().Why)
	must(unix.Setrlimit(unix.RLIMIT_FSIZE, &was))
	wait("the recovery", func() bool { return l.Health().OK && turns(path) == n })
	fmt.Println("recovered:", l.Health().Lost, "lost")
	must(l.Close())
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func TestFileLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	out, err := child(t, "full", path).Output()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "full: write ledger.db") || !strings.Contains(string(out), "recovered: 0 lost") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDiskFull fills a small disk of memory, where one can be mounted.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a small disk (%v); TestFileLimit does the same with a limit", err)
	}
	defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
	path := filepath.Join(dir, "ledger.db")
	l := Open(path, Options{Every: 5 * time.Millisecond, Rows: 100, Batch: 16})
	defer l.Close()
	l.Turn(turnOf(0))
	written(t, l, path, 1)
	rest := filepath.Join(dir, "rest")
	outside(t, `dd if=/dev/zero of="$F" bs=4096 2>/dev/null || true`, rest)
	sent := 1
	for l.Health().OK || l.Health().Lost == 0 {
		if sent == 100_000 {
			t.Fatalf("never full: %+v", l.Health())
		}
		l.Turn(turnOf(sent))
		sent++
		<-time.After(50 * time.Microsecond)
	}
	if h := l.Health(); !strings.Contains(h.Why, "full") {
		t.Errorf("health = %+v", h)
	}
	lost := int(l.Health().Lost)
	outside(t, `rm "$F"`, rest)
	written(t, l, path, sent-lost)
	if h := l.Health(); int(h.Lost) != lost || !strings.Contains(h.Why, "full") {
		t.Errorf("health afterwards = %+v, lost %d before", h, lost)
	}
}
