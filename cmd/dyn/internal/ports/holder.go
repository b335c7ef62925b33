package ports

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Holder is the process that listens on a port.
type Holder struct {
	PID     int    // 0 when it belongs to somebody else
	Program string // its name, or ""
}

// String says who it is, for an error line.
func (h Holder) String() string {
	if h.PID == 0 {
		return "a process of another user"
	}
	return "pid " + strconv.Itoa(h.PID) + " (" + h.Program + ")"
}

// Find returns who listens on a port. It is false when nobody does.
func Find(port int) (Holder, bool) { return find("/proc", port) }

func find(proc string, port int) (Holder, bool) {
	inodes := map[string]bool{}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		listening(filepath.Join(proc, table), port, inodes)
	}
	if len(inodes) == 0 {
		return Holder{}, false
	}
	fds, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*"))
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil {
			continue
		}
		inode, ok := strings.CutPrefix(target, "socket:[")
		if !ok || !inodes[strings.TrimSuffix(inode, "]")] {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		return Holder{PID: pid, Program: program(dir)}, true
	}
	return Holder{}, true
}

// listening adds the inodes of sockets that listen on port. A row of the
// table is: slot, local address, remote address, state (0A is listening), …
// with the inode in the tenth column.
func listening(table string, port int, inodes map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	for rows := bufio.NewScanner(f); rows.Scan(); {
		col := strings.Fields(rows.Text())
		if len(col) < 10 || col[3] != "0A" {
			continue
		}
		_, hex, ok := strings.Cut(col[1], ":")
		if got, err := strconv.ParseInt(hex, 16, 32); ok && err == nil && int(got) == port {
			inodes[col[9]] = true
		}
	}
}

func program(dir string) string {
	name, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(name))
}
