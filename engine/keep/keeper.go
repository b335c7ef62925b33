package keep

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/engine/child"
)

// keeper is the process that holds an engine.
type keeper struct {
	o     Order
	p     *child.Process
	end   chan time.Duration // an order to end the engine, with its wait
	mu    sync.Mutex         // guards all below
	rec   Record
	conns map[net.Conn]struct{}
	asked bool // its end was ordered
}

// Run is the keeper: it reads its Order from in, starts the engine with its
// own output as the engine's, and returns when the engine is gone. held
// reports whether a daemon lives. The first SIGTERM ends the engine; a
// hangup does nothing.
func Run(in io.Reader, held func() bool) error {
	report := os.NewFile(reportFD, "report")
	syscall.CloseOnExec(reportFD)
	k := &keeper{end: make(chan time.Duration, 8), conns: map[net.Conn]struct{}{}}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var l child.Launcher
	defer l.Close()
	sock, err := k.start(in, &l)
	if err != nil {
		tell(report, Record{}, err)
		return err
	}
	tell(report, k.rec, nil)
	go k.accept(sock)
	k.wait(signals, held)
	k.close(sock)
	return nil
}

// tell says on the pipe how the start went. Nobody may read it any more.
func tell(to io.WriteCloser, r Record, err error) {
	what := report{Record: r}
	if err != nil {
		what.Err = err.Error()
	}
	_ = json.NewEncoder(to).Encode(what)
	to.Close()
}

// start reads the order, opens the socket, starts the engine and writes the
// run file.
func (k *keeper) start(in io.Reader, l *child.Launcher) (net.Listener, error) {
	if err := json.NewDecoder(in).Decode(&k.o); err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	k.rec = k.o.Record
	k.rec.path = k.o.Path
	os.Remove(k.rec.Socket) // of one that was killed
	sock, err := net.Listen("unix", k.rec.Socket)
	if err != nil {
		return nil, fmt.Errorf("open socket of its keeper: %w", err)
	}
	sock.(*net.UnixListener).SetUnlinkOnClose(false) // it may be another one's by then
	k.p, err = l.Start(child.Command{
		Args: k.o.Args, Env: append(k.o.Env, k.rec.Mark), Out: os.Stdout, Bound: true, After: k.o.Record.Remove,
	})
	if err != nil {
		sock.Close()
		os.Remove(k.rec.Socket)
		return nil, err
	}
	k.rec.Keeper, k.rec.Engine, k.rec.Started = proc(os.Getpid()), proc(k.p.PID()), time.Now()
	if err := k.rec.write(); err != nil {
		k.p.End(0)
		sock.Close()
		os.Remove(k.rec.Socket)
		return nil, err
	}
	return sock, nil
}

// wait returns when the engine is gone.
func (k *keeper) wait(signals <-chan os.Signal, held func() bool) {
	look := time.NewTicker(min(max(k.o.Grace/20, 10*time.Millisecond), 5*time.Second))
	defer look.Stop()
	alone := time.Time{} // since when no daemon was seen
	for {
		select {
		case <-k.p.Exited():
			return
		case wait := <-k.end:
			go k.p.End(wait) // a later order may have less patience
		case s := <-signals:
			if s != syscall.SIGHUP {
				k.order(k.o.TermWait)
			}
		case now := <-look.C:
			switch {
			case k.rec.lost():
				k.order(k.o.TermWait)
			case held():
				alone = time.Time{}
			case alone.IsZero():
				alone = now
			case now.Sub(alone) >= k.o.Grace:
				k.order(k.o.TermWait)
			}
		}
	}
}

// order asks for the engine's end.
func (k *keeper) order(wait time.Duration) {
	k.mu.Lock()
	k.asked = true
	k.mu.Unlock()
	select {
	case k.end <- wait:
	default: // it was ordered often enough
	}
}

// accept greets those who connect.
func (k *keeper) accept(sock net.Listener) {
	for {
		c, err := sock.Accept()
		if err != nil {
			return
		}
		k.mu.Lock()
		err = json.NewEncoder(c).Encode(word{Mark: k.rec.Mark})
		k.conns[c] = struct{}{}
		k.mu.Unlock()
		if err == nil {
			go k.obey(c)
		}
	}
}

// obey takes orders until the other side is gone.
func (k *keeper) obey(c net.Conn) {
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		var w word
		if json.Unmarshal(lines.Bytes(), &w) != nil {
			continue
		}
		switch w.Do {
		case doEnd:
			k.order(w.Wait)
		case doReady:
			k.mu.Lock()
			if k.rec.Ready = true; !k.rec.lost() {
				_ = k.rec.write() // at worst it is waited for longer
			}
			k.mu.Unlock()
		}
	}
	k.mu.Lock()
	delete(k.conns, c)
	k.mu.Unlock()
	c.Close()
}

// close kills what is left of the engine, notes how it ended and tells all
// who are connected.
func (k *keeper) close(sock net.Listener) {
	sock.Close()
	child.Family{Mark: k.rec.Mark, Session: os.Getpid(), Born: k.rec.Keeper.Born}.Kill()
	k.mu.Lock()
	defer k.mu.Unlock()
	ended := k.p.Err().Error()
	switch {
	case k.rec.lost():
	case k.asked:
		k.rec.remove()
	default:
		os.Remove(k.rec.Socket)
		k.rec.Ended = ended
		if err := k.rec.write(); err != nil && !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "keeper:", err)
		}
	}
	for c := range k.conns {
		_ = c.SetWriteDeadline(time.Now().Add(writeLimit))
		_ = json.NewEncoder(c).Encode(word{Ended: ended})
		c.Close()
	}
}
