package parsers

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// heldBack is the most text that was pushed, byte by byte, and not yet said,
// white space aside.
func heldBack(t *testing.T, o Options, before, text string) int {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Push(nil, before)
	var events []turn.Event
	worst, pushed, said := 0, 0, 0
	for i := range len(text) {
		events = s.Push(events[:0], text[i:i+1])
		pushed += len(strings.TrimSpace(text[i : i+1]))
		for _, e := range events {
			said += len(strings.Join(strings.Fields(e.Text), ""))
		}
		worst = max(worst, pushed-said)
	}
	return worst
}

// heldMost is the most that each family holds back of text in which all its
// markers are begun and none is whole, in bytes. A format that is not here
// holds back less than 32.
var heldMost = map[string]int{"deepseek_v3": 52, "step3": 67}

// TestHoldBackWorst: text is held only while it may be the beginning of a
// marker, and not a byte longer.
func TestHoldBackWorst(t *testing.T) {
	for _, s := range families() {
		longest, text := 0, "it is a < b, [1, 2], {\"k\": 1} and so on: f(x) >> y; "
		for _, list := range s.Markers() {
			for _, m := range list {
				longest = max(longest, len(m))
				text += "see " + m[:len(m)-1] + "\u00a7 here, "
			}
		}
		before := s.say(spoken{before: "So: "})
		if s.Frame != nil {
			before = strings.TrimSuffix(before, s.Frame.End.usual())
		}
		got := heldBack(t, conformOptions(s), before, text)
		t.Logf("%-16s holds back up to %d bytes", s.Name, got)
		if want, known := heldMost[s.Name]; got >= longest || known && got != want || !known && got >= 32 {
			t.Errorf("%s: %d bytes are held back; the longest marker has %d", s.Name, got, longest)
		}
	}
}

// TestHoldBackHeader: a message's marker that is quoted is held with the words
// behind it that may be a header, and no longer.
func TestHoldBackHeader(t *testing.T) {
	for name, want := range map[string]int{"harmony": 43, "beam": 43, "muse": 32, "functionary32": 8, "inkling": 41} {
		s, err := Lookup(name, Tools)
		if err != nil {
			t.Fatal(err)
		}
		before := strings.TrimSuffix(s.say(spoken{before: "So: "}), s.Frame.End.usual())
		text := ""
		for _, m := range append(s.Frame.Open, s.Frame.Channel) {
			text += m + "final to=x of one, and more " + m + "final, " + m + " " + m
		}
		if got := heldBack(t, conformOptions(s), before, text+" so on."); got != want {
			t.Errorf("%s: %d bytes are held back, want %d", name, got, want)
		}
	}
}
