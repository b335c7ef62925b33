// Package ports says who holds a TCP port on this machine, from what the
// kernel shows in /proc: the listening socket's inode, and the process that
// has a descriptor of it. A process of another user shows its name only to
// root; then the holder has no pid, which is said as such.
package ports
