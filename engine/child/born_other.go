//go:build !linux

package child

import "syscall"

// attributes puts a child in a group of its own. Only Linux can bind a child
// to its parent's life.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit does nothing: waiting and reaping are one step here.
func awaitExit(int) {}

// Born is "" here: whether a number is still the same process is not known,
// so nothing is done to it.
func Born(int) string { return "" }

// Kill finds nothing here.
func (f Family) Kill() int { return 0 }
