package exchange_test

import (
	"net"

	"golang.org/x/sys/unix"
)

// arrived waits until the other side's system has all that was sent.
func arrived(k net.Conn) {
	raw, err := k.(*net.TCPConn).SyscallConn()
	for left := 1; err == nil && left > 0; {
		err = raw.Control(func(fd uintptr) { left, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	}
}
