package main

import "testing"

func TestFolded(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"one two", 0, "one two"},
		{"one two", 7, "one two"},
		{"one two", 6, "one\n  two"},
		{"turn t1   s1/main   12 tokens", 20, "turn t1   s1/main\n  12 tokens"},
		{"  try:  do this and that", 18, "  try:  do this\n  and that"},
		{"averyveryverylongword and more", 10, "averyveryverylongword\n  and more"},
		{"ein schönes Wort", 12, "ein schönes\n  Wort"},
	} {
		if got := folded(c.line, c.columns, 2); got != c.want {
			t.Errorf("%q in %d columns:\n%s\nwant\n%s", c.line, c.columns, got, c.want)
		}
	}
}
