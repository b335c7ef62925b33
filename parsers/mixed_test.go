package parsers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mixedSpecs are the families with calls in Python's syntax, in pseudo-JSON
// and in messages.
func mixedSpecs() []*Spec {
	return slices.DeleteFunc(families(), func(s *Spec) bool {
		return s.Grammar != Pythonic && s.Grammar != PseudoJSON && s.Grammar != Channels
	})
}

// mixedPieces are what the markup of a family is made of.
func mixedPieces(s *Spec) []string {
	list := []string{
		" ", "\n", ",", ", ", ":", "=", "(", ")", "[", "]", "{", "}", "'", `"`, `"""`, `\`, `\x4`, "<", "<|", "1", "-2.5", "None", "true",
		"f(", "say(text='", "k1=", "k2: ", "'k3': ", `"k4": `, "now()", "[f(", "call:f{", "call:say(", "k5:", "')]", "}}",
		`{"name": "f", "args": {`, `{"k6": "`, `"}`, " to=functions.f", "to=say", "assistant", "final", "analysis", "f\n", "all\n", ">>>", "#",
	}
	for _, marks := range s.Markers() {
		for _, m := range marks {
			list = append(list, head(m), m[:len(m)/2])
		}
	}
	if q := s.Values.Quote; q != "" {
		list = append(list, q, q, q, q, q[:2])
	}
	if f := s.Frame; f != nil {
		for _, m := range slices.Concat(f.Open, f.Body, f.End, Marks{f.Channel}) {
			list = append(list, m, m, m)
		}
	}
	return slices.DeleteFunc(list, func(p string) bool { return p == "" })
}

// TestMixedRandom puts pieces of each family's markup together in any order:
// every word has to be somewhere in the answer.
func TestMixedRandom(t *testing.T) {
	specs := mixedSpecs()
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(specs).Draw(rt, "spec")
		pieces := mixedPieces(s)
		var words []string
		text := ""
		for n := range rapid.IntRange(1, 24).Draw(rt, "pieces") {
			if rapid.IntRange(0, 3).Draw(rt, "kind") == 0 {
				w := fmt.Sprintf("qz%dx", n)
				words = append(words, w)
				text += w
				continue
			}
			text += rapid.SampledFrom(pieces).Draw(rt, "piece")
		}
		o := conformOptions(s)
		o.Offered = rowTools
		o.Tail = rapid.SampledFrom([]string{o.Tail, ""}).Draw(rt, "tail")
		checkAny(t, o, true, text, 1, 4)
		a := checkAny(t, o, false, text, 1, 4)
		if s.Frame != nil && s.Name != "functionary32" && slices.ContainsFunc(s.Frame.Body, func(m string) bool { return strings.Contains(text, m) }) {
			return // words may stand in a header
		}
		said := a.content + a.reasoning
		for _, c := range a.calls {
			said += c.name + c.args
		}
		for _, w := range words {
			if !strings.Contains(said, w) {
				rt.Fatalf("%s: %q: %s is lost in %+v", s.Name, text, w, a)
			}
		}
	})
}

// FuzzMixed checks any text in these families.
func FuzzMixed(f *testing.F) {
	specs := mixedSpecs()
	for i, s := range specs {
		for _, turn := range turns(s) {
			f.Add(s.say(turn), uint8(i), false, uint8(1))
		}
	}
	f.Fuzz(func(t *testing.T, text string, which uint8, cut bool, step uint8) {
		o := conformOptions(specs[int(which)%len(specs)])
		o.Offered = rowTools
		checkAny(t, o, cut, text, int(step)%7+1)
	})
}
