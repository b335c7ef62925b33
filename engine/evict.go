package engine

import "github.com/agentinfer/dyn/engine/keep"

// Evict ends the engines that are kept from an earlier daemon and whose run
// files cannot be read, so that nobody can adopt them. It returns when they are
// gone, with how many there were.
func (f *Fleet) Evict() int {
	names := keep.Strange(f.o.Run, f.o.Sockets)
	keep.Evict(f.o.Sockets, names, f.o.TermWait)
	return len(names)
}
