// Package child runs processes in groups of their own and ends them whole:
// what an engine leaves behind holds its port and its GPUs.
//
// The nouns: a Launcher starts children. A Process is a running child; it is
// reaped, and the rest of its group killed, as soon as it has ended. A mark is
// a word in the environment of a child that all of its own children inherit,
// so that those which left the group are found; a Family is all of them.
//
// Numbers of processes are used again. Whoever keeps one for later keeps Born
// with it, and asks Same before believing that it is still the same process.
//
// Linux only: a Bound child is killed by the kernel when the process that
// started it dies; a Family can be seen. Elsewhere a Bound child outlives a
// parent that is killed, and the kill of a Family ends nothing.
//
// Concurrency: all is safe for concurrent use.
package child
