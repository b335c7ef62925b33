// Program bench makes docs/bench.md of what scripts/bench.sh measured: the
// load generator's JSON lines (dyn.jsonl, spike.jsonl for the floor,
// peer.jsonl for somebody else's router) and the output of go test -bench. Rows that lose are printed like the others.
// With -fin it measures how soon a client's FIN reaches an engine, and prints
// JSON lines of the same kind.
//
// The way of a figure: a tool prints a record; bench.sh appends it to a file
// of its anchor; page.go finds the floor's and the peer's record of the same
// case and prints them side by side with the bar. Nothing is left out, nothing
// is judged but by the bar.
package main
