// Routing compares all routing strategies on recorded sessions of Claude Code and
// writes docs/routing.md: make bench-routing.
//
// Every strategy has the same number of settings to be tuned with, on seeds 1
// to 3 in one cell; the best of them (most turns a second; of those within one
// per cent the lowest mean time to the first token) is played in every cell on
// seeds that were not used for it. Strategies see what a live router sees, block
// events come late and constants are wrong by a factor.
//
// Every run is a line of a file, by what was run, so that a run that was cut off
// goes on where it ended; -budget ends it after a time, and the page says what is
// missing.
package main
