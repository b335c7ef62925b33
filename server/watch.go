package server

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// watchEvery is how often the clients of turns are looked at.
const watchEvery = 20 * time.Millisecond

// watches are the clients that wait for something. fasthttp itself tells
// nothing while a handler waits, so one timer looks at the sockets of all of
// them together, and takes no bytes from any. A goroutine that waits on each
// socket, or a timer for each turn, was a twentieth of a short turn. The zero
// value is empty and ready.
type watches struct {
	mu    sync.Mutex // guards all below, and at of those in list
	list  []*watched
	timer *time.Timer
	runs  bool // the timer does
}

// watched is one of them.
type watched struct {
	of   *watches
	fd   int
	gone func()
	at   int // in the list; -1 once it has left it
}

// watch calls gone once when the client of c hangs up, by FIN or RST, within
// little more than watchEvery; a half-closed connection counts as gone. Bytes
// that wait unread, such as a next request that was sent early, do not hide a
// FIN behind them (on Linux). gone must not block, nor call stop.
//
// The caller must call stop before the connection is closed, that is before
// the handler or its body writer returns. gone is not called after that.
func (ws *watches) watch(c net.Conn, gone func()) (stop func()) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return func() {}
	}
	w := &watched{of: ws, gone: gone}
	raw, err := sc.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { w.fd = int(fd) })
	}
	if err != nil {
		return func() {}
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.at = len(ws.list)
	ws.list = append(ws.list, w)
	switch {
	case ws.runs:
	case ws.timer == nil:
		ws.timer = time.AfterFunc(watchEvery, ws.look)
	default:
		ws.timer.Reset(watchEvery)
	}
	ws.runs = true
	return w.stop
}

// look tells who has hung up. The timer goes on while anybody is there.
func (ws *watches) look() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range hungUp(ws.list) {
		ws.drop(w)
		w.gone()
	}
	if ws.runs = len(ws.list) > 0; ws.runs {
		ws.timer.Reset(watchEvery)
	}
}

func (w *watched) stop() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.at >= 0 {
		w.of.drop(w)
	}
}

// drop takes a client from the list; mu must be held.
func (ws *watches) drop(w *watched) {
	last := len(ws.list) - 1
	moved := ws.list[last]
	ws.list[w.at], moved.at = moved, w.at
	ws.list[last], w.at = nil, -1
	ws.list = ws.list[:last]
}
