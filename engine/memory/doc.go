// Package memory tells how much memory this machine has: for what engines on a
// CPU may take, and for GPUs that share it.
package memory
