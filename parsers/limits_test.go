package parsers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestLimitsOfFormats reads long answers that are made to be slow, in every
// format: the beginnings of calls again and again, whole and in small pieces.
func TestLimitsOfFormats(t *testing.T) {
	const size = 1 << 13
	for _, spec := range Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			section, call := head(spec.Section.Open.usual()), head(spec.Call.Open.usual())
			name := spec.Call.Prefix + "f" + head(spec.Call.NameEnd.usual())
			arg := spec.Arg.Open.usual() + "a" + head(spec.Arg.Mid.usual())
			units := []string{
				section, call, section + call, section + call + name, section + call + name + "{", section + call + name + arg,
				section + "[", section + "{\"name\": \"f\", ", call + "        ", "[f(", "{\"a\": ", "f", "\n", "`", "'", "\"", "<", "[", "{", "(",
				spec.Call.Close.usual(), head(spec.Arg.Close.usual()), call + "f", section + call + name + "{}" + spec.Call.Close.usual(),
			}
			for _, unit := range units {
				if unit == "" {
					continue
				}
				for _, prefix := range []string{"", section + call + name, section + call + name + "{\"a\": \"", section + call + name + arg} {
					text := prefix + strings.Repeat(unit, size/len(unit))
					o := Options{Offered: rowTools}
					if spec.Grammar != "" {
						o.Tools = spec.Name
					}
					if spec.has(Thinking) {
						o.Reasoning = spec.Name
					}
					a := read(t, o, false, text)
					split(t, o, false, a, bursts(text, func() int { return 61 })...)
				}
			}
		})
	}
}

// TestHeldIsLookedAtOnce: what waits for the end of a value, or of a draft of a
// call, is not looked at again with each piece. Bytes that a Stream holds behind
// a piece are what it may look at again.
func TestHeldIsLookedAtOnce(t *testing.T) {
	const size = 1 << 17
	blanks := strings.Repeat("\n", size)
	for _, spec := range Specs() {
		if spec.Grammar != Tagged {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			section, call := head(spec.Section.Open.usual()), spec.Call.Open.usual()+"f"+head(spec.Call.NameEnd.usual())+spec.Arg.Open.usual()
			for _, text := range []string{
				section + call + "a" + head(spec.Arg.Mid.usual()) + blanks,
				strings.Repeat(section+call, size/len(section+call)),
			} {
				s, err := New(Options{Tools: spec.Name, Offered: rowTools})
				if err != nil {
					t.Fatal(err)
				}
				again := 0
				for _, piece := range bursts(text, func() int { return 61 }) {
					s.Push(nil, piece)
					again += len(s.buf)
				}
				if most := 80 * size; again > most {
					t.Errorf("%.60q: %d bytes were held behind a piece, in all; want at most %d", text, again, most)
				}
			}
		})
	}
}

// TestDraftIsSearchedOnce: what a reader holds of a call inside reasoning is
// searched once for the end of the reasoning.
func TestDraftIsSearchedOnce(t *testing.T) {
	s, err := New(Options{Tools: "glm45", Reasoning: "glm45", Offered: rowTools, Thinks: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Push(nil, "So <tool_call>set<arg_key>l</arg_key><arg_value>[")
	for _, piece := range bursts(strings.Repeat("<", 1<<14), func() int { return 61 }) {
		s.Push(nil, piece)
		if left := len(s.buf) - s.looked; left > 16 {
			t.Fatalf("%d of %d bytes are to be searched again", left, len(s.buf))
		}
	}
}

// TestWholeIsTriedSeldom: a list with tags of arguments in it that the tool does
// not have is not read again at each of them.
func TestWholeIsTriedSeldom(t *testing.T) {
	set := turn.Tool{Name: "set", Schema: json.RawMessage(`{"type":"object","properties":{"l":{"type":"array"}},"additionalProperties":false}`)}
	s, err := New(Options{Tools: "glm45", Offered: []turn.Tool{set}})
	if err != nil {
		t.Fatal(err)
	}
	s.Push(nil, "<tool_call>set<arg_key>l</arg_key><arg_value>[")
	tag := "[]</arg_value><arg_key>zz</arg_key><arg_value>"
	for _, piece := range bursts(strings.Repeat(tag, 1000), func() int { return 61 }) {
		s.Push(nil, piece)
	}
	if n, most := s.kit.reader.(*tagged).args.tried, maxReread+len(s.buf); n == 0 || n > most {
		t.Errorf("%d bytes were read again, want some and at most %d", n, most)
	}
}
