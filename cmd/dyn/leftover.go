package main

import (
	"os"

	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/engine/keep"
)

// leftover is what a daemon left that is gone without a word: engines that
// run on for a while, see engine/keep.
type leftover struct {
	recipe  string // that they serve; "" is not known
	engines int
}

// leftBehind looks for a leftover. It is empty while a daemon lives.
func leftBehind(f folders.Folders) leftover {
	if f.Alive() {
		return leftover{}
	}
	var l leftover
	for _, r := range keep.List(f.Run()) {
		if r.Engine.Lives() {
			l.engines++
		}
	}
	if l.engines > 0 {
		d, _ := f.Last()
		l.recipe = d.Recipe
	}
	return l
}

// says is the leftover in words; "" is that there is none.
func (l leftover) says() string {
	switch {
	case l.engines == 0:
		return ""
	case l.engines == 1:
		return "1 engine of one that is gone runs on"
	}
	return plural(l.engines, "engine") + " of one that is gone run on"
}

// up is the command that starts a daemon: where engines are left, the one that
// takes them back.
func (l leftover) up() string { return "dyn " + plan{Recipe: l.recipe}.op() }

// leftHere is the leftover in this user's folders.
func leftHere() leftover {
	f, err := folders.Find(os.Getenv)
	if err != nil {
		return leftover{}
	}
	return leftBehind(f)
}
