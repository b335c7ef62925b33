package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/ledger"
)

// tenRules script ten turns of one session, in three runs of the client, and
// one turn of another.
func tenRules(c client) []rule {
	step := func(n int) string { return think("One more step.", c.shell(fmt.Sprintf("echo ten-%c", 'a'+n))) }
	return []rule{
		{When: `[^ ]ten-g`, Say: "The third task is done."},
		{When: `[^ ]ten-f`, Say: step(6)},
		{When: `THIRD-TASK`, Say: step(5)},
		{When: `[^ ]ten-e`, Say: "The second task is done."},
		{When: `[^ ]ten-d`, Say: step(4)},
		{When: `SECOND-TASK`, Say: step(3)},
		{When: `[^ ]ten-c`, Say: "The first task is done."},
		{When: `[^ ]ten-b`, Say: step(2)},
		{When: `[^ ]ten-a`, Say: step(1)},
		{Seen: count(0), Say: step(0)},
		{Say: "Another folder, another word."},
	}
}

// playTen plays a session of ten turns, then one turn in another folder, and
// compares the first prompts of the two.
func playTen(ctx context.Context, c client, l *lab) error {
	for _, run := range []struct {
		argv []string
		want string
	}{
		{c.start(l, "Do the first task."), "The first task is done."},
		{c.again(l, "Do the SECOND-TASK."), "The second task is done."},
		{c.again(l, "Do the THIRD-TASK."), "The third task is done."},
	} {
		if err := step(l, run.argv, run.want); err != nil {
			return err
		}
	}
	first, err := l.inner.prompts()
	if err != nil {
		return err
	}
	if len(first) != 10 {
		return fmt.Errorf("the session had %d turns, want 10", len(first))
	}
	here := l.project
	l.project = filepath.Join(l.home, "elsewhere")
	if err := l.folder(ctx, l.project); err != nil {
		return err
	}
	if err := step(l, c.start(l, "Do the first task."), "Another folder, another word."); err != nil {
		return err
	}
	both, err := l.inner.prompts()
	if err != nil {
		return err
	}
	if len(both) != 11 {
		return fmt.Errorf("the session in another folder had %d turns, want 1", len(both)-10)
	}
	return l.parted(ctx, both[0], both[10], here)
}

// parted checks that the second session reused what it has in common with the
// first, and that the first byte that differs is one of a folder's name.
func (l *lab) parted(ctx context.Context, first, second []uint32, here string) error {
	common := 0
	for common < min(len(first), len(second)) && first[common] == second[common] {
		common++
	}
	a, err := l.inner.text(ctx, first)
	if err != nil {
		return err
	}
	b, err := l.inner.text(ctx, second)
	if err != nil {
		return err
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	if at == min(len(a), len(b)) {
		return fmt.Errorf("two folders, and the prompts do not differ")
	}
	near := func(s string) string { return s[max(0, at-80):min(len(s), at+40)] }
	place := memory(here)
	if !within(a, at, place) {
		return fmt.Errorf("the prompts part at byte %d, which is not in the name of the memory folder %s: %q and %q", at, place, near(a), near(b))
	}
	turns, err := settled(ctx, l)
	if err != nil {
		return err
	}
	last := slices.MaxFunc(turns, func(x, y ledger.Turn) int { return x.At.Compare(y.At) })
	if want := common / 16 * 16; last.Cached < want {
		return fmt.Errorf("another folder: %d of %d tokens were cached, but the first %d are those of the session before: %s", last.Cached, last.Prompt, want, rows(turns))
	}
	l.note = fmt.Sprintf("another folder reuses %d of %d tokens, up to byte %d: the %q of %q in the name of the memory folder, which system block [2] tells",
		last.Cached, last.Prompt, at, a[at:at+1], filepath.Base(here))
	return nil
}

// memory is where Claude Code keeps what it remembers of a folder; its system
// prompt names it.
func memory(folder string) string {
	return "/.claude/projects/" + regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(folder, "-") + "/memory/"
}

// within says whether a byte of a text stands in one of the places where name
// does.
func within(text string, at int, name string) bool {
	from := max(0, at-len(name)+1)
	i := strings.Index(text[from:], name)
	return i >= 0 && from+i <= at
}
