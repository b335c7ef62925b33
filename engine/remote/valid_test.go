package remote_test

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/remote"
)

func TestValid(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`{"a":[`, n) + strings.Repeat("]}", n) }
	for text, want := range map[string]bool{
		"": false, "{}": true, "[1": false, nest(128): true, nest(129): false,
		`["` + strings.Repeat("[", 1000) + `\"` + strings.Repeat("{", 1000) + `"]`: true,
		"[" + strings.Repeat("[{}],", 1000) + "1]":                                 true,
		strings.Repeat("[", 16<<20):                                                false, // would use up any stack
	} {
		if got := remote.Valid([]byte(text)); got != want {
			t.Errorf("%.40s: %v", text, got)
		}
	}
}
