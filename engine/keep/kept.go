package keep

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// ErrNone is in the chain when no keeper of that record listens any more.
var ErrNone = errors.New("its keeper has ended")

// Kept is a daemon's hold on a keeper and its engine. It is safe for
// concurrent use. A daemon that dies lets go of it, which ends nothing.
type Kept struct {
	Record
	conn   net.Conn
	mu     sync.Mutex // guards writes to conn
	exited chan struct{}
	err    error // how the engine went; to be read after exited
}

// word is one line on a keeper's socket. The keeper's first one has Mark, its
// last one Ended; a daemon's orders have Do.
type word struct {
	Mark  string        `json:"mark,omitempty"`
	Ended string        `json:"ended,omitempty"`
	Do    string        `json:"do,omitempty"`
	Wait  time.Duration `json:"wait,omitempty"`
}

// What a daemon may order.
const (
	doEnd   = "end"   // end the engine: SIGTERM, and after Wait SIGKILL to its group
	doReady = "ready" // note that it gave a token
)

// joinLimit is for a keeper's first word. Without it the engine, which may have
// taken minutes to load, is ended: a machine that is busy has its time.
// writeLimit is for a word to somebody who may not read.
const (
	joinLimit  = 10 * time.Second
	writeLimit = 2 * time.Second
)

// Join takes hold of the keeper of a record. The error is in the chain of
// ErrNone when there is none.
func Join(r Record) (*Kept, error) {
	conn, err := net.DialTimeout("unix", r.Socket, joinLimit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(joinLimit))
	lines := bufio.NewScanner(conn)
	first := word{}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || first.Mark != r.Mark {
		conn.Close()
		return nil, fmt.Errorf("%w: another one listens at %s", ErrNone, r.Socket)
	}
	_ = conn.SetReadDeadline(time.Time{})
	k := &Kept{Record: r, conn: conn, exited: make(chan struct{})}
	go k.listen(lines)
	return k, nil
}

// listen waits for the end of the keeper, and clears away what it left.
func (k *Kept) listen(lines *bufio.Scanner) {
	for lines.Scan() {
		var w word
		if json.Unmarshal(lines.Bytes(), &w) == nil && w.Ended != "" {
			k.err = errors.New(w.Ended)
		}
	}
	k.conn.Close()
	if k.err == nil {
		k.err = errors.New("its keeper was killed")
		k.kill()
	}
	k.Clear()
	close(k.exited)
}

// kill ends a keeper that said no last word, and waits a moment for the kernel
// to take the engine with it: its GPUs are needed again.
func (k *Kept) kill() {
	if k.Keeper.Lives() {
		_ = syscall.Kill(k.Keeper.PID, syscall.SIGKILL)
	}
	for end := time.Now().Add(joinLimit); k.Engine.Lives() && time.Now().Before(end); {
		k.family().Kill()
		time.Sleep(5 * time.Millisecond)
	}
}

// PID is the engine's.
func (k *Kept) PID() int { return k.Engine.PID }

// Exited is closed when the engine is gone and nothing of it is left.
func (k *Kept) Exited() <-chan struct{} { return k.exited }

// Err is how the engine ended, never nil. It must not be called before Exited
// is closed.
func (k *Kept) Err() error { return k.err }

// Ready notes that the engine gave a token: whoever finds it later need not
// wait for its weights.
func (k *Kept) Ready() { k.send(word{Do: doReady}) }

// End has the engine ended: asked, and killed with its group after the wait.
// It returns when it is gone. A keeper that does not obey is killed too.
func (k *Kept) End(wait time.Duration) {
	k.send(word{Do: doEnd, Wait: wait})
	late := time.NewTimer(wait + obeyLimit)
	defer late.Stop()
	select {
	case <-k.exited:
		return
	case <-late.C:
	}
	k.conn.Close() // listen does the rest
	<-k.exited
}

// obeyLimit is how long after the kill of its engine a keeper may take.
const obeyLimit = 5 * time.Second

func (k *Kept) send(w word) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	_ = json.NewEncoder(k.conn).Encode(w) // who cannot be told is gone, and listen knows
}

// End ends the engine of a record, whoever started it, and clears away what
// is left of it.
func End(r Record, wait time.Duration) {
	if k, err := Join(r); err == nil {
		k.End(wait)
		return
	}
	r.Clear()
}

// EndAll ends the engines of all records at once, and returns when they are
// gone.
func EndAll(all []Record, wait time.Duration) {
	var each sync.WaitGroup
	for _, r := range all {
		each.Go(func() { End(r, wait) })
	}
	each.Wait()
}
