package main

import "slices"

// client is one agent: how it is started and what its model has to say.
type client struct {
	name    string
	title   string
	pkg     string // of the npm registry
	harness string // its name in the ledger, "" when it gives none
	window  int    // declared in the case compact

	// sessions says that it names its sessions; the daemon infers them otherwise.
	sessions bool
	kinds    []string // of its turns that are known all the same

	// setup writes its settings, and env is what its process gets besides.
	setup func(l *lab) error
	env   func(l *lab) []string

	start func(l *lab, prompt string) []string // a new conversation
	again func(l *lab, prompt string) []string // the next prompt of the last one

	launch []string // what dyn starts it with, settings that lead elsewhere among it; nil where dyn cannot; a prompt follows

	shell func(command string) string // a call of its shell tool
	spawn string                      // a call that starts a subagent whose prompt holds SUBTASK
	lead  []rule                      // what else the lead has to say while its agent works
	alike int                         // tokens that the prompts of lead and agent have in common at least; 0 is a brain's own
	no    map[string]string           // cases that it cannot have, and why

	// read and edit are calls of the case of a family, seen and changed what
	// their results hold; no read, no such case.
	read, edit    call
	seen, changed string

	// compact is how it asks for a summary, and what a good one says.
	compact []rule
	fails   bool // it does not try again when a stream breaks
	output  int  // lines of the commands that fill its window
}

const noCommand = "dyn has no command that starts it"

// clients are in the order of the table.
var clients = []client{claude, codex, opencode, qwen, cline, pi}

func named(name string) (client, bool) {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	if i < 0 {
		return client{}, false
	}
	return clients[i], true
}
