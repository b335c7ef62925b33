package main

import (
	"bytes"
	"testing"
)

func TestNarrowed(t *testing.T) {
	one := func() *table {
		tab := &table{head: []string{"NAME", "N", "STATE", "WHERE"}, right: []int{1}}
		tab.add("w0", "12", "ready", "http://127.0.0.1:8080/v1")
		tab.add("w1", "7", "down", "–")
		return tab
	}
	for _, c := range []struct{ tty, want string }{
		{"", "NAME\tN\tSTATE\tWHERE\nw0\t12\tready\thttp://127.0.0.1:8080/v1\nw1\t7\tdown\t–\n"},
		{"41", "NAME   N  STATE  WHERE\nw0    12  ready  http://127.0.0.1:8080/v1\nw1     7  down   –\n"},
		{"40", "NAME   N  WHERE\nw0    12  http://127.0.0.1:8080/v1\nw1     7  –\n"},
		{"28", " N  WHERE\n12  http://127.0.0.1:8080/v1\n 7  –\n"},
		{"15", " N  WHERE\n12  http:…080/v1\n 7  –\n"},
	} {
		t.Setenv("DYN_FORCE_TTY", c.tty)
		var b bytes.Buffer
		if err := one().narrowed(&b, 2, 0).print(&b); err != nil || b.String() != c.want {
			t.Errorf("%q columns: got\n%s(%v), want\n%s", c.tty, b.String(), err, c.want)
		}
	}
}
