package parsers

import (
	"strings"
	"testing"
)

// TestTaggedSpecs has specs that someone may write: those that cannot be read
// by are refused, the others read calls.
func TestTaggedSpecs(t *testing.T) {
	const begin = "name: x\ngrammar: tagged\ncall: {open: '<c ', close: </c>}\n"
	for _, tt := range []struct {
		name, spec, bad string
		text, args      string
	}{
		{name: "no closing tag", spec: begin + "arg: {open: <a>, mid: ':'}\n", bad: "arg"},
		{name: "no key", spec: begin + "arg: {open: <a>, close: </a>}\n", bad: "arg"},
		{name: "a blank tag", spec: begin + "arg: {open: ' ', mid: ':', close: </a>}\n", bad: "arg.open"},
		{name: "a tag that begins with a brace", spec: begin + "arg: {open: <a>, mid: ':', close: '{key}'}\n", bad: "arg.close"},
		{
			name: "braces that are text", spec: begin + "arg: {open: '<{', mid: '}=', close: '/{}'}\n",
			text: "<c write_file <{path}=a{b}/{}</c>", args: `{"path":"a{b}"}`,
		},
		{
			name: "a brace that is not closed", spec: begin + "arg: {open: '<{', mid: '{', close: '</{'}\n",
			text: "<c write_file <{path{a</{</c>", args: `{"path":"a"}`,
		},
		{
			name: "a line feed behind the name", spec: "name: x\ngrammar: tagged\ncall: {open: '<c>', name_end: \"\\n\", close: </c>}\narg: {open: <a>, mid: </a> <v>, close: </v>}\n",
			text: "<c>write_file\n<a>path</a>\n<v>a</v></c>", args: `{"path":"a"}`,
		},
		{
			name: "a key that the closing tag repeats", spec: begin + "arg: {open: '<', mid: '>', close: '</{key}>'}\n",
			text: "<c write_file <path>a</b></path></c>", args: `{"path":"a</b>"}`,
		},
		{
			name: "any JSON without a schema", spec: begin + "arg: {open: <a>, mid: ':', close: </a>}\nvalues: {untyped: json}\n",
			text: "<c fly <a>n:5</a><a>s:007</a></c>", args: `{"n":5,"s":"007"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec, err := ReadSpec([]byte(tt.spec))
			if tt.bad != "" {
				if err == nil || !strings.Contains(err.Error(), tt.bad+":") {
					t.Fatalf("error %v, want one about %s", err, tt.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			f, err := FormatOf(spec)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, len(tt.text)} {
				s := f.Open(Options{Offered: offer})
				events := s.Push(nil, "")
				for i := 0; i < len(tt.text); i += n {
					events = s.Push(events, tt.text[i:min(len(tt.text), i+n)])
				}
				if a := collect(t, s.Close(events)); len(a.calls) != 1 || a.calls[0].args != tt.args {
					t.Errorf("in pieces of %d: %+v, want %s", n, a, tt.args)
				}
			}
		})
	}
}
