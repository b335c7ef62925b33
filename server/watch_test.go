package server

import (
	"net"
	"testing"
	"time"
)

// TestWatches: who hangs up is told once, whoever is young or watched can be
// let go of, and its connection is as it was.
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
	young := func() int {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		return len(ws.young)
	}
	begun := func() {
		t.Helper()
		(&rig{t: t}).until("the watch begins", func() bool { return young() == 0 })
	}
	gone := make(chan string, 8)
	watch := func(name string, c net.Conn) (stop func()) {
		c.SetReadDeadline(time.Now().Add(time.Millisecond)) // as a server's read timeout may
		return ws.watch(c, func() { gone <- name })
	}
	leaver, its := pair()
	stayer, stays := pair()
	_, short := pair()
	stopLeaver, stopStayer, stopShort := watch("leaver", its), watch("stayer", stays), watch("short", short)
	stopShort()
	if n := young(); n != 2 {
		t.Errorf("%d are young, want two", n)
	}
	begun()
	leaver.Close()
	if name := <-gone; name != "leaver" {
		t.Errorf("%s is told to be gone", name)
	}
	stopLeaver()
	stopStayer()
	if _, err := stayer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if _, err := stays.Read(b[:]); err != nil {
		t.Errorf("after the watch: %v", err)
	}
	defer watch("again", stays)() // the timer begins anew
	begun()
	if len(gone) > 0 {
		t.Errorf("%s is told to be gone", <-gone)
	}
}
