package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// sketch draws messages in one line each: role and blocks, with the lease an
// ask stands for after an @.
func sketch(ms []turn.Message) string {
	var lines []string
	for _, m := range ms {
		line := string(m.Role)
		for _, b := range m.Blocks {
			switch b.Kind {
			case turn.Text:
				line += fmt.Sprintf(" %q", b.Text)
			case turn.ThinkingBlock:
				line += fmt.Sprintf(" think(%q %q)", b.Text, b.Signature)
			case turn.ToolUse:
				line += fmt.Sprintf(" call(%s %s %s)", b.ID, b.Name, b.Args)
			case turn.ToolResult:
				line += fmt.Sprintf(" result(%s %q", b.ID, b.Text)
				if b.Refs != nil {
					line += fmt.Sprintf(" refs %q", b.Refs)
				}
				if b.IsError {
					line += " error"
				}
				line += ")"
			default:
				line += fmt.Sprintf(" %s(%s)", [...]string{turn.Image: "image", turn.Document: "document", turn.Other: "other"}[b.Kind], b.Raw)
			}
			if b.Lease > 0 {
				line += "@" + b.Lease.String()
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// decoding is a table of what bodies read as. A body is completed with the
// fields that every request of its dialect needs.
type decoding struct{ name, body, want string }

func runDecodings(t *testing.T, d turn.Dialect, more string, cases []decoding) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := For(d).Decode([]byte(`{"model":"m",`+more+c.body+`}`), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSpace(strings.ReplaceAll(c.want, "\t", ""))
			if s := sketch(got.Messages); s != want {
				t.Errorf("got\n%s\nwant\n%s", s, want)
			}
		})
	}
}

func decoded(t *testing.T, d turn.Dialect, body string) *turn.Turn {
	t.Helper()
	got, err := For(d).Decode([]byte(body), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
