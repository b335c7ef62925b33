package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// running reports whether a process exists and has not ended yet. One that
// waits for its parent to take notice (a zombie) has ended.
func running(pid int) bool {
	if err := syscall.Kill(pid, 0); err == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	// pid (name) state …: the name may hold anything, so look from the end.
	_, after, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return !ok || len(after) == 0 || (after[0] != 'Z' && after[0] != 'X')
}
