package engine

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts a child in a group of its own and, when it is bound, has the
// kernel kill it when the thread that forked it ends.
func attributes(c Launch) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if c.Bound {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// awaitExit blocks until the child has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}
