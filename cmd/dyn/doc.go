// Command dyn is everything a user types: one file per command, and the
// wiring of the rooms into a daemon.
//
// main.go runs the command line and turns its error into an exit code; the
// kinds of errors and their codes are in exit.go and nowhere else. root.go
// builds the tree of commands. show.go prints facts, as a table for people or
// as JSON. Each command has a constructor that takes an *app: where to write,
// and how to find the folders, so that tests give it their own.
//
// dyn up starts the daemon: it works out a plan (plan.go), starts this
// program again in a session of its own with that plan on standard input
// (spawn.go), and follows its progress until every worker has served a real
// turn (progress.go). The daemon itself is daemon.go: prompt models, fleet,
// ledger, server and sockets, made in that order and ended in the other. One
// daemon lives per state folder; a lock decides, see the folders package. How
// much garbage it lets pile up is the garbage package's to say.
//
// Before that, prepare.go brings what a real engine needs and this machine has
// not: its program, with the user's consent, and the model's file. dyn engine
// does the same by itself (engine.go and its like).
//
// dyn claude and dyn codex become the agent (agent.go), with settings that
// lead it to the daemon, merged with the user's own (settings.go, codex.go).
//
// All other commands are short-lived and ask: the control socket for what is
// (ps, top), the ledger's file for what was (stats), the log files (logs). dyn
// run is a client of the public port like any other (run.go, runstream.go).
//
// What may be lost: the last lines of a log file after rotation. A command
// that was interrupted leaves nothing half done: up ends the daemon that it
// started, down goes on in the daemon.
package main
