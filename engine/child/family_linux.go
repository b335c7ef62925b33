package child

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Kill kills the family's processes, but for this one. It returns how many it
// found, and does not wait.
func (f Family) Kill() (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil || pid == os.Getpid() || !f.has(pid) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0) // from here on it can be no other process
		if err != nil {
			continue
		}
		if f.has(pid) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
			n++
		}
		unix.Close(fd)
	}
	return n
}

// has reports whether a process is of the family.
func (f Family) has(pid int) bool {
	if f.marked(pid) {
		return true
	}
	s, ok := statOf(pid)
	if !ok || f.Session == 0 || s.session != f.Session || f.Group != 0 && s.group != f.Group {
		return false
	}
	// The number of a session is not used again while it has a process. One
	// that began before the leader, or has another leader, is another session.
	if leader := Born(f.Session); leader != "" && leader != f.Born {
		return false
	}
	at, tick, _ := strings.Cut(f.Born, ":")
	since, err := strconv.ParseInt(tick, 10, 64)
	return err == nil && at == boot() && s.tick >= since
}

// marked reports whether the environment of a process has the mark. Those of
// other users cannot be read.
func (f Family) marked(pid int) bool {
	if f.Mark == "" {
		return false
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+f.Mark+"\x00"))
}
