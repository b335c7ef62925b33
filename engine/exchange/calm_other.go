//go:build !linux

package exchange

import (
	"io"
	"net"
	"syscall"
)

// calmly is the connection itself.
func calmly(n net.Conn, _ syscall.RawConn) io.Reader { return n }
