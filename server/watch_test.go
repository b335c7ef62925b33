package server

import (
	"net"
	"testing"
	"time"
)

// TestWatches: who hangs up is told, whoever stays or was let go of is not.
func TestWatches(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	pair := func() (client, server net.Conn) {
		if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
			t.Fatal(err)
		}
		if server, err = ln.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close(); server.Close() })
		return client, server
	}
	var ws watches
	gone := make(chan string, 8)
	watch := func(name string, c net.Conn) (stop func()) {
		c.SetReadDeadline(time.Now().Add(time.Millisecond)) // as a server's read timeout may
		return ws.watch(c, func() { gone <- name })
	}
	for _, last := range []string{"leaves", "leaves early", "resets"} { // the timer stops and begins anew
		leaver, its := pair()
		stayer, stays := pair()
		early, short := pair()
		defer watch("stays", stays)()
		stop, let := watch(last, its), watch("was let go of", short)
		let()
		early.Close()
		if _, err := stayer.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		switch last {
		case "leaves early":
			leaver.Write([]byte("GET "))
		case "resets":
			leaver.(*net.TCPConn).SetLinger(0)
		}
		leaver.Close()
		if name := <-gone; name != last {
			t.Errorf("one that %s is told to be gone, want one that %s", name, last)
		}
		stop()
		var b [1]byte
		stays.SetReadDeadline(time.Time{})
		if _, err := stays.Read(b[:]); err != nil || b[0] != 'x' {
			t.Errorf("of who stays %q is read: %v", b, err)
		}
	}
	if len(gone) > 0 {
		t.Errorf("one that %s is told to be gone too", <-gone)
	}
}

// TestWatchesEnd: no timer runs when nobody is there.
func TestWatchesEnd(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var ws watches
	for range 2 {
		ws.watch(client, func() { t.Error("told to be gone") })()
		(&rig{t: t}).until("the timer stops", func() bool {
			ws.mu.Lock()
			defer ws.mu.Unlock()
			return !ws.runs
		})
	}
}
