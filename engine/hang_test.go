package engine_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/engine/sim"
	"github.com/agentinfer/dyn/turn"
)

// hangs is a sim whose turns get no answer while a file has its number; all
// else about it is well. Where there is another file, it listens no more from
// its next turn on, and does not end.
func hangs(args []string) error {
	free, err := port.Free()
	if err != nil {
		return err
	}
	at := slices.Index(args, "--port") + 1
	own := args[at]
	args[at] = strconv.Itoa(free)
	flag, shut := filepath.Join(os.Getenv("DYN_TEST_FOLDER"), "hang"), filepath.Join(os.Getenv("DYN_TEST_FOLDER"), "shut")
	outer, err := net.Listen("tcp", "127.0.0.1:"+own)
	if err != nil {
		return err
	}
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + args[at]})
	pass.FlushInterval = -1
	server := &http.Server{}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, _ := os.ReadFile(flag); string(who) == strconv.Itoa(os.Getpid()) && r.Method == http.MethodPost {
			<-r.Context().Done()
			return
		}
		if r.Method == http.MethodPost && os.Remove(shut) == nil {
			go server.Shutdown(context.Background()) // waits for this one for ever
			<-r.Context().Done()
			return
		}
		pass.ServeHTTP(w, r)
	})
	go func() { _ = server.Serve(outer) }()
	return sim.Run(context.Background(), args, os.Stdout, os.Stderr)
}

// An engine whose health is well and that does nothing is killed, its turns
// are lost to it, and it comes back.
func TestHungIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRig(t, engine.Options{Hang: 300 * time.Millisecond, HangProbe: 2 * time.Second, TermWait: 100 * time.Millisecond})
	role := recipe("hangs")
	role.Env["DYN_TEST_FOLDER"] = dir
	w, err := r.Start(t.Context(), engine.Spec{Recipe: role})
	if err != nil {
		t.Fatal(err)
	}
	before := w.Info().PID
	if err := os.WriteFile(filepath.Join(dir, "hang"), []byte(strconv.Itoa(before)), 0o600); err != nil {
		t.Fatal(err)
	}
	if quiet := w.Load().Quiet; quiet != 0 {
		t.Errorf("nobody waits, and it is quiet for %v", quiet)
	}
	lost := make(chan error, 1)
	go func() {
		_, _, err := say(t, w, job(0, 100))
		lost <- err
	}()
	eventually(t, "it is told how long nothing comes", func() bool { return w.Load().Quiet >= 100*time.Millisecond })
	if err := <-lost; !errors.Is(err, turn.ErrLost) {
		t.Fatalf("the turn ended with %v, want a lost worker", err)
	}
	eventually(t, "it is ready again", func() bool { return w.Info().State == turn.Ready && w.Info().Restarts == 1 })
	if quiet := w.Load().Quiet; quiet != 0 {
		t.Errorf("its new life begins quiet for %v", quiet)
	}
	if now := w.Info().PID; now == before || alive(before) {
		t.Errorf("pid %d, and the old %d lives: %v", now, before, alive(before))
	}
	if _, _, err := say(t, w, job(0, 100)); err != nil {
		t.Error(err)
	}
}

// An engine that listens no more and does not end is not waited for as long as
// one that is only slow.
func TestHungInItsEndIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRig(t, engine.Options{DrainStall: 200 * time.Millisecond, TermWait: 100 * time.Millisecond})
	role := recipe("hangs")
	role.Env["DYN_TEST_FOLDER"] = dir
	w, err := r.Start(t.Context(), engine.Spec{Recipe: role})
	if err != nil {
		t.Fatal(err)
	}
	before := w.Info().PID
	if err := os.WriteFile(filepath.Join(dir, "shut"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := say(t, w, job(0, 100)); !errors.Is(err, turn.ErrLost) {
		t.Fatalf("the turn ended with %v, want a lost worker", err)
	}
	eventually(t, "it is ready again", func() bool { return w.Info().State == turn.Ready && w.Info().Restarts == 1 })
	if alive(before) {
		t.Error("the old process lives")
	}
}

// An engine that only takes long for one turn is left alone.
func TestSlowIsNotHung(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Options{Hang: 400 * time.Millisecond, HangProbe: time.Minute})
	w := r.start(t, "rules:\n  - say: \"slow\"\n    fault: slow\n    fault_ms: 1000\n")
	if text, _, err := say(t, w, job(0, 100)); err != nil || text != "slow" {
		t.Fatalf("%q, %v", text, err)
	}
	if got := r.told(); !slices.Equal(got, []string{"w0 starting", "w0 ready"}) {
		t.Fatalf("told %v", got)
	}
}
