package parsers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// row is a text of a model and what it says, in the form of brief.
type row struct {
	name, tail, text, want string
}

// brief is what an answer says, on one line: reasoning in double parentheses,
// text, then each call behind a bar and its flaws behind it.
func (a answer) brief() string {
	var b strings.Builder
	if a.reasoning != "" {
		b.WriteString("((" + a.reasoning + "))")
	}
	b.WriteString(strings.Trim(a.content, "\r\n"))
	for _, c := range a.calls {
		b.WriteString("|" + c.name + c.args)
		for i, mark := range []string{" repaired", " mistyped", " unknown", " truncated"} {
			if c.flaws&(1<<i) != 0 {
				b.WriteString(mark)
			}
		}
	}
	return b.String()
}

// rowTools are on offer in rows.
var rowTools = []turn.Tool{
	{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"a":{},"b":{},"c":{}}}`)},
	{Name: "say", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}}}`)},
	{Name: "now"},
	{Name: "python", Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"}}}`)},
	{Name: "set", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"number"},"on":{"type":"boolean"},"s":{"type":["string","null"]},"o":{"type":"object","properties":{"k":{"type":"string"}}},"l":{"type":"array","items":{"type":"string"}}}}`)},
	{Name: "ns::odd", Schema: json.RawMessage(`{"type":"object","properties":{"two words":{"type":"string"},"$n":{"type":"integer"},"a/b":{"type":"string"}}}`)},
}

// rows reads each text whole and in all kinds of pieces, and cuts it
// everywhere.
func rows(t *testing.T, format string, list []row) {
	t.Helper()
	for _, r := range list {
		t.Run(r.name, func(t *testing.T) {
			o := Options{Tools: format, Tail: r.tail, Offered: rowTools}
			if _, err := Lookup(format, Thinking); err == nil {
				o.Reasoning = format
			}
			got := read(t, o, false, r.text)
			if brief := got.brief(); brief != r.want {
				t.Fatalf("%q says\n%s, want\n%s", r.text, brief, r.want)
			}
			for _, c := range got.calls {
				if !json.Valid([]byte(c.args)) {
					t.Errorf("arguments %s are not JSON", c.args)
				}
			}
			splits(t, o, false, r.text, got)
			for i := range r.text {
				a := read(t, o, true, r.text[:i])
				split(t, o, true, a, perByte(r.text[:i])...)
				for _, c := range a.calls {
					if !strings.HasPrefix(Repair(c.args), c.args) {
						t.Fatalf("cut at %d: arguments %s cannot be completed", i, c.args)
					}
				}
			}
		})
	}
}
