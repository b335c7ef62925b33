// Program bench makes docs/bench.md of what scripts/bench.sh measured: the
// load generator's JSON lines (dyn.jsonl, and spike.jsonl for the floor) and
// the output of go test -bench. Rows that lose are printed like the others.
// With -fin it measures how soon a client's FIN reaches an engine, and prints
// JSON lines of the same kind.
//
// The way of a figure: a tool prints a record; bench.sh appends it to a file
// of its anchor; page.go finds the floor's record of the same case, prints
// both and how many times the floor's cost dyn's is. Nothing is left out,
// nothing is judged but by the bar of the head.
package main
