package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts a child in a group of its own and, when it is bound, has the
// kernel kill it when the thread that forked it ends.
func attributes(bound bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if bound {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// awaitExit blocks until the child has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// stat is what the kernel tells of a process.
type stat struct {
	group, session int
	tick           int64 // of the machine's clock at which it began
	ended          bool  // nobody has waited for it yet
}

// statOf reads it; false when there is no such process.
func statOf(pid int) (stat, bool) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	// pid (name) state …: the name may hold anything, so look from the end.
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	if len(fields) < 20 {
		return stat{}, false
	}
	s := stat{ended: fields[0] == "Z" || fields[0] == "X"}
	s.group, _ = strconv.Atoi(fields[2])
	s.session, _ = strconv.Atoi(fields[3])
	s.tick, _ = strconv.ParseInt(fields[19], 10, 64)
	return s, true
}

// boot names this run of the machine.
func boot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // always there
	return strings.TrimSpace(string(id))
}

// Born tells two processes of one number apart: the boot of the machine and
// the tick of its clock at which the process began. It is "" when there is no
// such process.
func Born(pid int) string {
	s, ok := statOf(pid)
	if !ok || s.ended {
		return ""
	}
	return boot() + ":" + strconv.FormatInt(s.tick, 10)
}
