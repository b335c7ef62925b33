package keep_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/child"
	"github.com/agentinfer/dyn/engine/keep"
)

// What this binary does instead of testing, and the file that says that a
// daemon lives.
const (
	role = "DYN_TEST_ROLE"
	held = "DYN_TEST_HELD"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "worker" && os.Args[2] == "keep":
		err := keep.Run(os.Stdin, func() bool {
			_, err := os.Stat(os.Getenv(held))
			return err == nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case os.Getenv(role) == "deaf": // with a child that left its group
		signal.Ignore(syscall.SIGTERM)
		far := exec.Command("sleep", "600")
		far.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := far.Start(); err != nil {
			panic(err)
		}
		fmt.Println("far", far.Process.Pid)
		select {}
	case os.Getenv(role) == "short":
		os.Exit(7)
	default:
		os.Exit(m.Run())
	}
}

// rig is a run folder and the file that stands for a daemon.
type rig struct {
	dir, log string
	o        keep.Order
}

func newRig(t *testing.T, args ...string) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{dir: dir, log: filepath.Join(dir, "w0.log")}
	if err := os.WriteFile(filepath.Join(dir, "held"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "w0.files"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH")}
	r.o = keep.Order{
		Record: keep.Record{Worker: "w0", Dir: filepath.Join(dir, "w0.files"), Socket: filepath.Join(dir, "w0.sock"), Port: 1, Key: "secret", Log: r.log},
		Path:   keep.Path(dir, "w0"), Args: args, Env: env, Own: append(env, held+"="+filepath.Join(dir, "held")),
		Grace: time.Hour, TermWait: 20 * time.Millisecond,
	}
	return r
}

func (r *rig) start(t *testing.T) *keep.Kept {
	t.Helper()
	log, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k, err := keep.Start(self, r.o, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.End(0) })
	return k
}

// ends waits until the engine is gone, and checks that nothing is left.
func (r *rig) ends(t *testing.T, k *keep.Kept) {
	t.Helper()
	select {
	case <-k.Exited():
	case <-time.After(time.Minute):
		t.Fatal("it never ended")
	}
	eventually(t, "engine and keeper are gone", func() bool { return !k.Engine.Lives() && !k.Keeper.Lives() })
	if got := keep.List(r.dir); len(got) > 0 {
		t.Fatalf("run files left: %+v", got)
	}
	if _, err := os.Stat(r.o.Record.Socket); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("socket left: %v", err)
	}
	if _, err := os.Stat(r.o.Record.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("folder left: %v", err)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if ok() {
			return
		}
		select {
		case <-t.Context().Done():
		case <-time.After(2 * time.Millisecond):
		}
	}
	t.Fatalf("never: %s", what)
}

func TestEndedOnOrder(t *testing.T) {
	r := newRig(t, "sleep", "600")
	k := r.start(t)
	info, err := os.Stat(keep.Path(r.dir, "w0"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("run file: %v %v, want mode 0600", info, err)
	}
	all := keep.List(r.dir)
	if len(all) != 1 || all[0].Engine != k.Engine || !all[0].Engine.Lives() || all[0].Ready {
		t.Fatalf("run files = %+v, want the one of %+v", all, k.Record)
	}
	k.Ready()
	eventually(t, "the run file says ready", func() bool {
		got, err := keep.Read(keep.Path(r.dir, "w0"))
		return err == nil && got.Ready
	})
	k.End(time.Minute)
	r.ends(t, k)
	if got := k.Err().Error(); got != "signal: terminated" {
		t.Fatalf("ended by %q", got)
	}
}

// An engine that does not mind SIGTERM is killed, with what left its group.
func TestDeaf(t *testing.T) {
	self, _ := os.Executable()
	r := newRig(t, self)
	r.o.Env = append(r.o.Env, role+"=deaf")
	k := r.start(t)
	far := r.far(t)
	k.End(10 * time.Millisecond)
	r.ends(t, k)
	eventually(t, "what left the group is gone", func() bool { return !far.Lives() })
}

// far is the process that an engine says it has started.
func (r *rig) far(t *testing.T) keep.Proc {
	t.Helper()
	pid := 0
	eventually(t, "it says what it started", func() bool {
		text, _ := os.ReadFile(r.log)
		n, _ := fmt.Sscanf(string(text), "far %d", &pid)
		return n == 1
	})
	return keep.Proc{PID: pid, Born: child.Born(pid)}
}

func TestEndsByItself(t *testing.T) {
	self, _ := os.Executable()
	r := newRig(t, self)
	r.o.Env = append(r.o.Env, role+"=short")
	log, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	k, err := keep.Start(self, r.o, log)
	if err != nil { // it was faster than we
		if !errors.Is(err, keep.ErrNone) || !strings.Contains(err.Error(), "exit status 7") {
			t.Fatal(err)
		}
		return
	}
	r.ends(t, k)
	if got := k.Err().Error(); got != "exit status 7" {
		t.Fatalf("ended by %q", got)
	}
}

func TestKeeperKilled(t *testing.T) {
	r := newRig(t, "sleep", "600")
	k := r.start(t)
	if err := syscall.Kill(k.Keeper.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.ends(t, k)
	if got := k.Err().Error(); !strings.Contains(got, "keeper was killed") {
		t.Fatalf("ended by %q", got)
	}
}

// Engines name their processes, which overwrites their environment: such a
// one goes with the others.
func TestKeeperKilledAndNamesChanged(t *testing.T) {
	r := newRig(t, "sh", "-c", "env -i sleep 600 & echo far $!; wait")
	k := r.start(t)
	far := r.far(t)
	if err := syscall.Kill(k.Keeper.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.ends(t, k)
	eventually(t, "what changed its name is gone", func() bool { return !far.Lives() })
}

// A session that only has the number of an old one is left alone.
func TestReusedSession(t *testing.T) {
	r := newRig(t, "sleep", "600")
	k := r.start(t)
	k.End(0)
	r.ends(t, k)
	innocent := exec.Command("sleep", "600")
	innocent.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = innocent.Process.Kill()
		_ = innocent.Wait()
	}()
	pid := innocent.Process.Pid
	old := k.Record
	old.Keeper.PID, old.Engine.PID = pid, pid
	if n := old.Clear(); n != 0 || child.Born(pid) == "" {
		t.Fatalf("killed %d processes of another session", n)
	}
}

// A second daemon finds what the first one left, and hears of its end.
func TestFound(t *testing.T) {
	r := newRig(t, "sleep", "600")
	first := r.start(t)
	rec, err := keep.Read(keep.Path(r.dir, "w0"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := keep.Join(rec)
	if err != nil {
		t.Fatal(err)
	}
	second.End(time.Minute)
	r.ends(t, second)
	r.ends(t, first)
	if _, err := keep.Join(rec); !errors.Is(err, keep.ErrNone) {
		t.Fatalf("join of one that is gone: %v, want ErrNone", err)
	}
}

func TestNoDaemon(t *testing.T) {
	r := newRig(t, "sleep", "600")
	r.o.Grace = 50 * time.Millisecond
	k := r.start(t)
	if err := os.Remove(filepath.Join(r.dir, "held")); err != nil {
		t.Fatal(err)
	}
	r.ends(t, k)
}

func TestNameTaken(t *testing.T) {
	r := newRig(t, "sleep", "600")
	r.o.Grace = 200 * time.Millisecond // looks every 10 ms
	k := r.start(t)
	other := newRig(t, "sleep", "600").start(t)
	rec, err := os.ReadFile(keep.Path(filepath.Dir(other.Socket), "w0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keep.Path(r.dir, "w0"), rec, 0o600); err != nil {
		t.Fatal(err)
	}
	<-k.Exited()
	if !other.Engine.Lives() {
		t.Fatal("the other engine was ended too")
	}
	if got, err := keep.Read(keep.Path(r.dir, "w0")); err != nil || got.Mark != other.Mark {
		t.Fatalf("the other's run file = %+v %v", got, err)
	}
}

// A number that is another process's by now is left alone.
func TestReusedNumber(t *testing.T) {
	r := newRig(t, "sleep", "600")
	k := r.start(t)
	k.End(0)
	r.ends(t, k)
	innocent := exec.Command("sleep", "600")
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = innocent.Process.Kill()
		_ = innocent.Wait()
	}()
	old := k.Record
	old.Keeper.PID, old.Engine.PID = innocent.Process.Pid, innocent.Process.Pid
	born := child.Born(innocent.Process.Pid)
	keep.End(old, 0)
	if n := old.Clear(); n != 0 {
		t.Fatalf("killed %d processes", n)
	}
	if !child.Same(innocent.Process.Pid, born) {
		t.Fatal("it killed another's process")
	}
}

func TestCannotStart(t *testing.T) {
	r := newRig(t, filepath.Join(t.TempDir(), "missing"))
	log, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	self, _ := os.Executable()
	if _, err := keep.Start(self, r.o, log); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Fatalf("error = %v, want one that says why", err)
	}
	if names, _ := filepath.Glob(filepath.Join(r.dir, "w0.[js]*")); len(names) > 0 {
		t.Fatalf("left behind: %v", names)
	}
}

// A run file that was written by hand takes nothing away but itself, and its
// folder may have any name.
func TestStrangeRunFile(t *testing.T) {
	state := filepath.Join(t.TempDir(), "[a]*")
	dir := filepath.Join(state, "run")
	if err := os.MkdirAll(filepath.Join(dir, "w1.files"), 0o700); err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(state, "ledger.db")
	if err := os.WriteFile(ledger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{filepath.Join(dir, "..") + "/", dir + "/..", dir + "/.", filepath.Join(dir, "w1.files"), state, ""} {
		text, err := json.Marshal(keep.Record{V: 1, Mark: child.NewMark(), Port: 1, Engine: keep.Proc{PID: 1 << 30}, Socket: ledger, Dir: gone})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(keep.Path(dir, "w0"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		all := keep.List(dir)
		if len(all) != 1 {
			t.Fatalf("found %+v", all)
		}
		keep.End(all[0], 0)
		for _, path := range []string{ledger, filepath.Join(dir, "w1.files")} {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%q took more away: %v", gone, err)
			}
		}
		if got := keep.List(dir); len(got) > 0 {
			t.Errorf("%q: left %+v", gone, got)
		}
	}
}

func TestForeignRunFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"daemon.json": `{"pid":1}`, "w1.json": `{"v":2,"mark":"m","socket":"s"}`, "w2.json": "{", "w3.json": `{"v":1,"mark":"HOME=/root","socket":"s"}`, "w4.json": `{"v":1,"mark":"DYN_WORKER_MARK=","socket":"s"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := keep.List(dir); len(got) > 0 {
		t.Fatalf("took %+v for run files", got)
	}
}

// A run file that cannot be put in its place leaves no other one behind.
func TestRunFileHasNoPlace(t *testing.T) {
	r := newRig(t, "sleep", "600")
	if err := os.MkdirAll(filepath.Join(r.o.Path, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	self, _ := os.Executable()
	if _, err := keep.Start(self, r.o, log); err == nil || !strings.Contains(err.Error(), "write run file") {
		t.Fatalf("error = %v, want one that says why", err)
	}
	if _, err := os.Stat(r.o.Path + ".next"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

// What a keeper left that was killed while it wrote its run file goes, unless
// it may be another keeper's.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"w0.json", "w0.json.next", "w1.json.next", "w1.next", "daemon.json", "x.json.next.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keep.Sweep(dir)
	var left []string
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		left = append(left, f.Name())
	}
	if want := "daemon.json w0.json w0.json.next w1.next x.json.next.txt"; strings.Join(left, " ") != want {
		t.Errorf("left are %q, want %s", left, want)
	}
	keep.Sweep(filepath.Join(dir, "none"))
}
