//go:build !linux

package engine

import "syscall"

// attributes puts a child in a group of its own. Only Linux can bind a child
// to its parent's life.
func attributes(Launch) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit does nothing: waiting and reaping are one step here.
func awaitExit(int) {}
