package child

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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

// Born tells two processes of one number apart: the boot of the machine and
// the tick of its clock at which the process began. It is "" when there is no
// such process.
func Born(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// pid (name) state …: the name may hold anything, so look from the end.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // always there
	return strings.TrimSpace(string(boot)) + ":" + fields[19]
}

// Sweep kills every process of this user whose environment began with the
// entry mark, NAME=value. It returns how many it found, and does not wait.
func Sweep(mark string) (n int) {
	if mark == "" {
		return 0
	}
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() || !marked(path, mark) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0) // from here on it can be no other process
		if err != nil {
			continue
		}
		if marked(path, mark) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
			n++
		}
		unix.Close(fd)
	}
	return n
}

// marked reports whether an environment has the entry. Those of other users
// cannot be read.
func marked(path, mark string) bool {
	env, err := os.ReadFile(path)
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00"))
}
