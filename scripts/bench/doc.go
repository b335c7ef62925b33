// Program bench makes docs/bench.md of what scripts/bench.sh measured: the
// load generator's JSON lines (dyn.jsonl, and spike.jsonl for the floor) and
// the output of go test -bench. Rows that lose are printed like the others.
package main
