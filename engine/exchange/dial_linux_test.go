package exchange

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestVanishedHostIsNoticed: a connection to another host gives up after
// seconds, not minutes.
func TestVanishedHostIsNoticed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name, addr string // as the client was given it
		want       map[int]int
	}{
		{"another host", "engine.example:8000", map[int]int{unix.TCP_USER_TIMEOUT: 20000, unix.TCP_KEEPIDLE: 5, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 3}},
		{"this machine", "127.0.0.1:8000", map[int]int{unix.TCP_USER_TIMEOUT: 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := dialer(c.addr).Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			raw, err := n.(*net.TCPConn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			for option, want := range c.want {
				got := -1
				_ = raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option) })
				if err != nil || got != want {
					t.Errorf("option %d is %d, %v; want %d", option, got, err, want)
				}
			}
		})
	}
}
