package diff

import (
	"strings"
	"testing"
)

func TestByText(t *testing.T) {
	for _, c := range []struct {
		was, now string
		want     Kind
	}{
		{"Today's date: 2026-11-29", "Today's date: 2026-11-30", Clock},
		{"It is 12:34:56 now.", "It is 12:35:01 now.", Clock},
		{"Now: 2026-11-30T12:34:56Z", "Now: 2026-11-30T12:35:09Z", Clock},
		{"Current time: Mon Nov 30 20:50:12 UTC 2026", "Current time: Mon Nov 30 20:51:40 UTC 2026", Clock},
		{"Current time: Mon Nov 30 20:50:12 UTC 2026", "Current time: Tue Dec 1 00:00:03 UTC 2026", Clock},
		{"Date: November 29, 2026", "Date: November 30, 2026", Clock},
		{"Date: 30/11/2026", "Date: 01/12/2026", Clock},
		{"Today is Monday.", "Today is Tuesday.", Clock},
		{"at 1764530000", "at 1764530017", Clock},
		{"<current_date>2026-11-29</current_date>", "<current_date>2026-11-30</current_date>", Clock},
		{"Session began 12 minutes ago.", "Session began 13 minutes ago.", Clock},
		{"x-anthropic-billing-header: cc_version=2.1.258; cch=9f2ab;", "x-anthropic-billing-header: cc_version=2.1.258; cch=41a00;", Attribution},
		{"x-anthropic-billing-header: cc_version=2.1.258;", "You are a helper.", Attribution},
		{"Working directory: /home/me/src/payments", "Working directory: /home/me/src/dyn", Folder},
		{"<cwd>/home/a</cwd>", "<cwd>/home/b</cwd>", Folder},
		{"cwd: payments", "cwd: dyn", Folder},
		{`C:\work\one`, `C:\work\two`, Folder},
		{"memory lies in ~/.claude/projects/-tmp-a/memory/.", "memory lies in ~/.claude/projects/-tmp-b/memory/.", Folder},
		{"request 8f21 of 9", "request 9ab3 of 9", Value},
		{"id: 0b4f2a10-1c2d-4e5f-8a9b-0123456789ab", "id: 1b4f2a10-1c2d-4e5f-8a9b-0123456789ab", Value},
		{"Tokens left: 123456", "Tokens left: 99120", Value},
		{"Be brief.", "Be terse.", ""},
		{"choose this and/or that", "choose this and/or those", ""},
		{"It may be so", "It may be not", ""},
		{strings.Repeat("a b ", 30) + "10:10", strings.Repeat("c d ", 30) + "10:11", ""},
	} {
		at := 0
		for at < min(len(c.was), len(c.now)) && c.was[at] == c.now[at] {
			at++
		}
		head := "some line\n"
		text := &Text{Was: head + c.was + "\nmore 1", Now: head + c.now + "\nmore 1", At: len(head) + at}
		if got := ByText(text); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.was, c.now, got, c.want)
		}
	}
}
