package voice

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/internal/fixtures/families"
	"github.com/agentinfer/dyn/prompt/bpe"
)

// roundtrip is an answer that a family's template printed.
type roundtrip struct {
	ID, Source, Prefill, Text string
	Expect                    struct {
		Content, Reasoning string
		Calls              []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
}

// freeIDs are ids of calls that a family draws.
var freeIDs = regexp.MustCompile(`\[CALL_ID\][0-9A-Za-z]{9}`)

// What is written is what the reference renderer printed with the family's
// template for the same answer.
func TestWritesAsFamilies(t *testing.T) {
	cases := map[string][]roundtrip{}
	lines := bufio.NewScanner(bytes.NewReader(fixtures.Read(t, "parsers", "roundtrip.jsonl")))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c roundtrip
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases[c.Source] = append(cases[c.Source], c)
	}
	for _, f := range families.All {
		t.Run(f.Name, func(t *testing.T) {
			v := open(t, f)
			source := f.Template
			if f.Name == "kimi_k2" {
				source = "dj-Kimi-K2-Instruct.jinja" // prints the same, but needs lists that it can change
			}
			all := cases["template "+source]
			if len(all) == 0 {
				t.Skipf("no cases of %s", f.Template)
			}
			for _, c := range all {
				m := Message{Content: c.Expect.Content, Reasoning: c.Expect.Reasoning}
				for _, call := range c.Expect.Calls {
					m.Calls = append(m.Calls, Call{call.Name, call.Arguments})
				}
				got, end, err := v.write(m, c.Prefill, 0)
				got, want := freeIDs.ReplaceAllString(got, "[CALL_ID]"), freeIDs.ReplaceAllString(c.Text, "[CALL_ID]")
				want = strings.TrimSuffix(want, end)
				if f.Name == "gemma4" && len(m.Calls) > 0 {
					want = strings.TrimSuffix(want, m.Content) // stands behind the token that ends the turn
				}
				if err != nil || strings.TrimRight(got, space) != strings.TrimRight(want, space) {
					t.Errorf("%s: %v\ngot  %q\nwant %q", c.ID, err, got, want)
				}
			}
		})
	}
}

// open makes the voice of a family.
func open(t *testing.T, f families.Family) *Voice {
	t.Helper()
	dir := t.TempDir()
	if err := f.Write(fixtures.Dir(t, ""), dir); err != nil {
		t.Fatal(err)
	}
	tok, err := bpe.Open(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	v, err := Open(os.DirFS(dir), tok, f.Name, f.Reasoning)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
