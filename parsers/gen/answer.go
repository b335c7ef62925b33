package gen

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/turn"
)

// answer is what a parser made of a text.
type answer struct {
	content   string
	reasoning string
	calls     []ProbeCall
	flaws     turn.Flaw // of all calls
}

// add takes in events.
func (a *answer) add(events []turn.Event) {
	for _, e := range events {
		switch e.Kind {
		case turn.Says:
			a.content += e.Text
		case turn.Reasoning:
			a.reasoning += e.Text
		case turn.CallStart:
			a.calls = append(a.calls, ProbeCall{Name: e.Call.Name})
		case turn.CallArgs:
			a.calls[e.Call.Index].Args += e.Text
		case turn.CallEnd:
			a.flaws |= e.Call.Flaws
		}
	}
}

// read parses a text that comes in pieces. typed says whether the parser is
// told the schemas of the tools.
func read(format *parsers.Format, tail string, typed bool, pieces iter.Seq[string]) (a answer) {
	s := format.Open(parsers.Options{Tail: tail, Offered: offered(typed)})
	var events []turn.Event
	for p := range pieces {
		events = s.Push(events[:0], p)
		a.add(events)
	}
	a.add(s.Close(events[:0]))
	return a
}

// offered are the tools of the probes, with or without their schemas.
func offered(typed bool) []turn.Tool {
	all := []turn.Tool{{Name: toolOne, Bare: toolOne}, {Name: toolTwo, Bare: toolTwo}}
	if typed {
		for i := range all {
			all[i].Schema = json.RawMessage(schemaJSON())
		}
	}
	return all
}

// differs tells how an answer differs from what a probe says; "" when it does
// not.
func (a *answer) differs(p Probe) string {
	if got := strings.TrimSpace(a.content); got != p.Content {
		return fmt.Sprintf("content is %q, not %q", got, p.Content)
	}
	if got := strings.TrimSpace(a.reasoning); got != p.Reasoning {
		return fmt.Sprintf("reasoning is %q, not %q", got, p.Reasoning)
	}
	if len(a.calls) != len(p.Calls) {
		return fmt.Sprintf("%d calls, not %d", len(a.calls), len(p.Calls))
	}
	for i, c := range a.calls {
		if c.Name != p.Calls[i].Name {
			return fmt.Sprintf("call %d is of %q, not %q", i+1, c.Name, p.Calls[i].Name)
		}
		if !equal(c.Args, p.Calls[i].Args) {
			return fmt.Sprintf("arguments of call %d are %s, not %s", i+1, c.Args, p.Calls[i].Args)
		}
	}
	return ""
}

// equal reports whether two JSON texts are the same value.
func equal(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// chunkings are ways to split a text: whole, by characters, by bytes, and at
// every single place that is not within a word.
func chunkings(text string) iter.Seq[iter.Seq[string]] {
	return func(yield func(iter.Seq[string]) bool) {
		if !yield(pieces(text)) || !yield(runes(text)) || !yield(octets(text)) {
			return
		}
		for i := 1; i < len(text); i++ {
			if letter(text[i-1]) && letter(text[i]) {
				continue
			}
			if !yield(pieces(text[:i], text[i:])) {
				return
			}
		}
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func pieces(all ...string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range all {
			if !yield(p) {
				return
			}
		}
	}
}

func runes(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			_, n := utf8.DecodeRuneInString(text[i:])
			if !yield(text[i : i+n]) {
				return
			}
			i += n
		}
	}
}

func octets(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(text) {
			if !yield(text[i : i+1]) {
				return
			}
		}
	}
}
