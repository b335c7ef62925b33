package main

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures/families"
)

func TestChosen(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // cells, or an error's text
	}{
		{[]string{"codex:resume,once"}, "codex/once codex/resume"},
		{[]string{"claude:ten", "pi:once"}, "claude/ten pi/once"},
		{[]string{"pi"}, "pi/once pi/launched pi/loop pi/agents pi/resume pi/compact pi/fault pi/cut pi/cancel"},
		{[]string{"codex:family-glm45,once"}, "codex/once codex/family-glm45"},
		{[]string{"pi:ten"}, "no case ten"},
		{[]string{"pi:family-glm45"}, "no case family-glm45"},
		{[]string{"pi:once,sing"}, "no case sing"},
		{[]string{"emacs"}, `no client "emacs"`},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			cells, err := chosen(c.args)
			var got []string
			for _, x := range cells {
				got = append(got, x.c.name+"/"+x.s.name)
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Fatalf("want %s, got %s", c.want, s)
			}
		})
	}
}

// TestFamiliesAreCases: each is one of the clients that can have it, and with
// them only where it is asked for.
func TestFamiliesAreCases(t *testing.T) {
	cells, err := chosen([]string{"claude:families", "codex:families,once", "pi:families"})
	if want := 2*len(families.All) + 1; err != nil || len(cells) != want {
		t.Errorf("%d cells, want %d; %v", len(cells), want, err)
	}
}

// TestScenesAreWhole: every case of every client has something to say,
// and what it needs of its client.
func TestScenesAreWhole(t *testing.T) {
	cells, err := chosen(nil)
	if err != nil {
		t.Fatal(err)
	}
	more, err := chosen([]string{"claude:families", "codex:families"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range append(cells, more...) {
		if x.c.no[x.s.name] != "" {
			continue
		}
		for i, r := range x.s.rules(x.c) {
			if r.When == "" && r.Say == "" && r.Answer == nil && r.Seen == nil {
				t.Errorf("%s %s: rule %d says nothing", x.c.name, x.s.name, i+1)
			}
		}
		switch {
		case x.s.name == "launched" && x.c.launch == nil, x.s.name == "resume" && x.c.again == nil,
			x.s.name == "agents" && x.c.spawn == "", x.s.name == "compact" && x.c.compact == nil:
			t.Errorf("%s cannot have the case %s, and does not say why", x.c.name, x.s.name)
		}
	}
}
