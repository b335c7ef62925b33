package server

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// watchAfter is how long a turn takes before its client is watched: most of
// what ends sooner ends before anybody could hang up, and a watch costs as
// much as a twentieth of a short turn.
const watchAfter = 20 * time.Millisecond

// watchLook is how often is looked for turns that take so long.
const watchLook = watchAfter / 2

// watches are the turns whose clients are not watched yet. One timer looks
// after all of them: one for each turn wakes a sleeping thread each time. The
// zero value is empty and ready.
type watches struct {
	mu    sync.Mutex // guards all below and the young of watched
	young []*watched
	timer *time.Timer
	runs  bool // the timer does
}

// watched is a client of a turn.
type watched struct {
	of    *watches
	conn  net.Conn
	raw   syscall.RawConn
	gone  func()
	since time.Time
	at    int           // among the young
	done  chan struct{} // closed when the watch has ended; nil while it has not begun
}

// watch calls gone once when the client of c hangs up, by FIN or RST; a
// half-closed connection counts as gone. fasthttp itself tells nothing while
// a handler waits, so a goroutine looks at the socket without taking bytes
// from it (MSG_PEEK). It begins after watchAfter, or at most watchLook later.
//
// The caller must call stop, once, before fasthttp reads from the connection
// again, that is before the handler or its body writer returns. stop waits
// for the watcher to end. Bytes that wait unread, such as a next request that
// was sent early, do not hide a FIN behind them (on Linux).
func (ws *watches) watch(c net.Conn, gone func()) (stop func()) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return func() {}
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return func() {}
	}
	w := &watched{of: ws, conn: c, raw: raw, gone: gone, since: time.Now()}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.at = len(ws.young)
	ws.young = append(ws.young, w)
	switch {
	case ws.runs:
	case ws.timer == nil:
		ws.timer = time.AfterFunc(watchLook, ws.look)
	default:
		ws.timer.Reset(watchLook)
	}
	ws.runs = true
	return w.stop
}

// look begins to watch the clients of turns that take long.
func (ws *watches) look() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now := time.Now()
	for i := len(ws.young) - 1; i >= 0; i-- {
		if w := ws.young[i]; now.Sub(w.since) >= watchAfter {
			ws.take(w)
			w.conn.SetReadDeadline(time.Time{}) // ReadTimeout left one that would end the watch
			w.done = make(chan struct{})
			go w.run()
		}
	}
	if ws.runs = len(ws.young) > 0; ws.runs {
		ws.timer.Reset(watchLook)
	}
}

// take takes a turn from the young; mu must be held.
func (ws *watches) take(w *watched) {
	last := len(ws.young) - 1
	ws.young[w.at] = ws.young[last]
	ws.young[w.at].at = w.at
	ws.young[last] = nil
	ws.young = ws.young[:last]
}

func (w *watched) run() {
	defer close(w.done)
	if hangs(w.raw) {
		w.gone()
	}
}

func (w *watched) stop() {
	w.of.mu.Lock()
	begun := w.done != nil
	if !begun {
		w.of.take(w)
	}
	w.of.mu.Unlock()
	if begun {
		w.conn.SetReadDeadline(time.Unix(1, 0))
		<-w.done
		w.conn.SetReadDeadline(time.Time{})
	}
}

// hangs waits until the other end hangs up, or until the connection's read
// deadline, and reports which.
func hangs(raw syscall.RawConn) (closed bool) {
	raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if err == syscall.EAGAIN || err == syscall.EINTR {
			return false
		}
		closed = n == 0 || err != nil || hungUp(int(fd))
		return closed
	})
	return closed
}
