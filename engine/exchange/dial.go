package exchange

import (
	"net"
	"net/netip"
	"syscall"
	"time"
)

// A host that vanishes says nothing, and the system waits for it for minutes.
// After so long without an answer, to data or to a keep-alive, it is taken for
// gone. The first one is asked for after keepIdle of silence.
const (
	keepIdle = 5 * time.Second
	keepWait = 20 * time.Second
)

// dialer connects to an engine. One on this machine cannot vanish without a
// word.
func dialer(addr string) *net.Dialer {
	d := &net.Dialer{}
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().IsLoopback() {
		return d
	}
	d.KeepAliveConfig = net.KeepAliveConfig{Enable: true, Idle: keepIdle, Interval: keepIdle, Count: int(keepWait/keepIdle) - 1}
	d.Control = func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { giveUpAfter(int(fd), keepWait) })
	}
	return d
}
