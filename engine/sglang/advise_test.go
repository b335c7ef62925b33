package sglang

import (
	"slices"
	"strings"
	"testing"
)

func TestAdvise(t *testing.T) {
	for _, c := range []struct {
		line, try string
		without   []string
	}{
		{"launch_server.py: error: unrecognized arguments: --enable-cache-report --page-sice=16", "--enable-cache-report, --page-sice", []string{"enable-cache-report"}},
		{"RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", "mem-fraction-static", nil},
		{"all is well", "", nil},
	} {
		a := Adapter{}.Advise([]string{"before", c.line, "behind"})
		if !strings.Contains(a.Try, c.try) || (c.try == "") != (a.Try == "") || !slices.Equal(a.Without, c.without) {
			t.Errorf("%s: %+v", c.line, a)
		}
	}
}
