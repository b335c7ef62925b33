package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/engine/keep"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dyn": main})
}

// TestScript runs what a user types: each file of testdata/script has a home
// of its own. A daemon that a failed script leaves is ended.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exitCode, "take": takePort, "gone": gone, "killdaemon": killDaemon, "turn": sendTurn, "answered": answered, "engine": startEngine,
			"status": askStatus, "secret": lastSecret, "launcher": launcherKey, "session": lastSession,
			"say": say, "post": postFile, "cached": cached, "workers": samePIDs, "index": index, "newer": newerLedger,
		},
		Condition:     condition,
		Setup:         setup,
		UpdateScripts: *update,
	})
}

func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "NO_COLOR"} {
		env.Setenv(name, "")
	}
	env.Values[answers{}] = make(chan string, 8)
	env.Values[talkKey{}] = new(dialogue)
	env.Setenv("DYN_SERVER__PORT", "0")
	env.Setenv("DYN_WORKER__SPEED", "0")
	env.Defer(func() {
		if f, err := folders.Find(env.Getenv); err == nil {
			if d, ok := f.Daemon(); ok {
				syscall.Kill(d.PID, syscall.SIGKILL)
			}
			keep.EndAll(keep.List(f.Run()), 0)
		}
	})
	return nil
}

// exitCode runs a command and checks its exit code: code 3 dyn ps.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code <n> <command> <args>...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// takePort listens on a free port until the script ends, and puts its number
// in a variable: take PORT.
func takePort(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// killDaemon ends the daemon as a crash would.
func killDaemon(ts *testscript.TestScript, _ bool, _ []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	d, ok := f.Daemon()
	if !ok {
		ts.Fatalf("no daemon is running")
	}
	ts.Check(syscall.Kill(d.PID, syscall.SIGKILL))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !control.Wait(ctx, 10*time.Millisecond, func() bool { return !f.Alive() }) {
		ts.Fatalf("pid %d was killed and still holds its lock", d.PID)
	}
}

// startEngine starts a simulated engine that is nobody's, until the script
// ends, and puts its address in a variable: engine URL flags….
func startEngine(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command("dyn", append([]string{"worker", "sim"}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv(args[0], strings.TrimSpace(strings.TrimPrefix(line, "listening on ")))
}

// answers is the key of a script's channel of answers.
type answers struct{}

// sendTurn streams a turn in the background, and returns when its answer has
// begun with an o, as the scripts' brains have it, or has ended: turn what
// the user says.
func sendTurn(ts *testscript.TestScript, _ bool, args []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	s, err := control.New(f.Socket()).Snapshot(context.Background())
	ts.Check(err)
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":%q}]}`, s.Models[0].ID, strings.Join(args, " "))
	resp, err := http.Post(s.Daemon.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	ts.Check(err)
	stream := bufio.NewReader(resp.Body)
	text := resp.Status
	for err == nil && !strings.Contains(text, `"content":"o`) {
		var line string
		line, err = stream.ReadString('\n')
		text += line
	}
	into := ts.Value(answers{}).(chan string)
	go func() {
		defer resp.Body.Close()
		rest, err := io.ReadAll(stream)
		into <- fmt.Sprintf("%s%s %v", text, rest, err)
	}()
}

// answered waits for the end of a turn and checks that its stream holds a
// text: answered finish_reason":"stop".
func answered(ts *testscript.TestScript, neg bool, args []string) {
	select {
	case got := <-ts.Value(answers{}).(chan string):
		if has := strings.Contains(got, args[0]); has == neg {
			ts.Fatalf("answer is %s", got)
		}
	case <-time.After(time.Minute):
		ts.Fatalf("no answer came")
	}
}

// gone waits until no process is left that was started with this script's
// home, the daemon and its workers among them.
func gone(ts *testscript.TestScript, _ bool, _ []string) {
	mark := "HOME=" + ts.Getenv("HOME")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !control.Wait(ctx, 20*time.Millisecond, func() bool { return len(withEnv(mark)) == 0 }) {
		ts.Fatalf("still running: pids %v", withEnv(mark))
	}
}

// withEnv lists the processes that have a variable in their environment.
func withEnv(pair string) []int {
	var pids []int
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), pair) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && running(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
