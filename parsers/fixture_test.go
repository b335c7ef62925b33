package parsers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// record is a line of the parser fixtures.
type record struct {
	ID      string
	Format  string
	Tools   json.RawMessage
	Text    string
	Prefill string
	Finish  string
	Chunks  []string
	Every   int `json:"cut_every"`
	Props   []string
	Expect  expected
	Full    expected

	offered []turn.Tool
}

// expected is what a turn should say.
type expected struct {
	Content   string
	Reasoning string
	Reason    string `json:"finish_reason"`
	Calls     []expectedCall
}

type expectedCall struct {
	Name      string
	ID        string
	Arguments any
}

// openAITool is a tool as the fixtures have it.
type openAITool struct {
	Function struct {
		Name       string
		Parameters json.RawMessage
	}
}

// records reads a file of fixtures by format. Formats that are not read yet
// are left out, and logged by name.
func records(t *testing.T, name string) map[string][]record {
	t.Helper()
	data := fixtures.Read(t, "parsers", name)
	var sets map[string][]openAITool
	if b, err := os.ReadFile(filepath.Join(fixtures.Dir(t, "parsers"), "toolsets.json")); err == nil {
		if err := json.Unmarshal(b, &sets); err != nil {
			t.Fatal(err)
		}
	}
	kept, left := map[string][]record{}, map[string]int{}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r record
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if _, err := Lookup(r.Format, Tools); err != nil {
			left[r.Format]++
			continue
		}
		var set string
		list := sets[set]
		if json.Unmarshal(r.Tools, &set) == nil {
			list = sets[set]
		} else if err := json.Unmarshal(r.Tools, &list); err != nil && len(r.Tools) > 0 {
			t.Fatal(err)
		}
		for _, f := range list {
			r.offered = append(r.offered, turn.Tool{Name: f.Function.Name, Bare: f.Function.Name, Schema: f.Function.Parameters})
		}
		kept[r.Format] = append(kept[r.Format], r)
	}
	for f, n := range left {
		t.Logf("%s: %d records of format %s are left out: it is not read yet", name, n, f)
	}
	return kept
}

// options are those of a record.
func (r *record) options() Options {
	o := Options{Tools: r.Format, Tail: r.Prefill, Offered: r.offered}
	if spec, err := Lookup(r.Format, Thinking); err == nil {
		o.Reasoning = spec.Name
	}
	return o
}

// check compares an answer the way the fixtures say: outer white space off,
// arguments as JSON values.
func check(a answer, want expected) error {
	if got := strings.TrimSpace(a.content); got != strings.TrimSpace(want.Content) {
		return fmt.Errorf("content %q, want %q", got, want.Content)
	}
	if got := strings.TrimSpace(a.reasoning); got != strings.TrimSpace(want.Reasoning) {
		return fmt.Errorf("reasoning %q, want %q", got, want.Reasoning)
	}
	return checkCalls(a, want)
}

func checkCalls(a answer, want expected) error {
	if len(a.calls) != len(want.Calls) {
		return fmt.Errorf("%d calls, want %d: %+v", len(a.calls), len(want.Calls), a)
	}
	for i, c := range a.calls {
		w := want.Calls[i]
		var got any
		if err := json.Unmarshal([]byte(Repair(c.args)), &got); err != nil {
			return fmt.Errorf("arguments %q: %w", c.args, err)
		}
		if c.name != w.Name || !reflect.DeepEqual(got, w.Arguments) {
			return fmt.Errorf("call %s(%s), want %s(%v)", c.name, c.args, w.Name, w.Arguments)
		}
		if w.ID != "" && c.id != w.ID {
			return fmt.Errorf("id %q, want %q", c.id, w.ID)
		}
	}
	return nil
}

// finishReason is what a client is told: a token limit wins over calls.
func finishReason(a answer, finish string) string {
	switch {
	case finish == "length":
		return finish
	case len(a.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// everySplit is how long a text may be that is split at every byte.
const everySplit = 360

// chunkings checks that a text gives want in many splits.
func chunkings(t *testing.T, o Options, cut bool, text string, want answer) {
	t.Helper()
	split(t, o, cut, want, strings.Split(text, "")...)
	split(t, o, cut, want, perByte(text)...)
	split(t, o, cut, want, tokens(text)...)
	if len(text) <= everySplit {
		for i := 1; i < len(text); i++ {
			split(t, o, cut, want, text[:i], text[i:])
		}
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(text))))
	for range 4 {
		split(t, o, cut, want, bursts(text, func() int { return 1 + rng.IntN(40) })...)
	}
}

// bursts takes text apart in pieces of the sizes that n says.
func bursts(text string, n func() int) []string {
	var p []string
	for len(text) > 0 {
		k := min(n(), len(text))
		p = append(p, text[:k])
		text = text[k:]
	}
	return p
}

// tokens takes text apart the way a vocabulary does: words with the space
// before them, and what looks like a marker whole.
func tokens(text string) []string {
	var p []string
	for len(text) > 0 {
		n := 1
		if i := strings.IndexByte(text, '>'); (text[0] == '<' || text[0] == '[') && i > 0 && i < 40 {
			n = i + 1
		} else {
			for n < len(text) && n < 6 && (isNaming(text[n]) || text[n] >= 0x80) {
				n++
			}
		}
		p = append(p, text[:n])
		text = text[n:]
	}
	return p
}

// perFormat runs a test for each format on its own.
func perFormat(t *testing.T, file string, test func(t *testing.T, r record)) {
	for format, list := range records(t, file) {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			for _, r := range list {
				t.Run(r.ID, func(t *testing.T) { test(t, r) })
			}
		})
	}
}

func TestCases(t *testing.T) {
	for _, file := range []string{"cases.jsonl", "roundtrip.jsonl"} {
		t.Run(file, func(t *testing.T) {
			perFormat(t, file, func(t *testing.T, r record) {
				cut := r.Finish == "length"
				got := read(t, r.options(), cut, r.Text)
				if err := check(got, r.Expect); err != nil {
					t.Fatal(err)
				}
				if f := finishReason(got, r.Finish); f != r.Expect.Reason {
					t.Errorf("finish reason %s, want %s", f, r.Expect.Reason)
				}
				for _, c := range got.calls {
					if c.flaws&^turn.Repaired != 0 && !cut && file != "cases.jsonl" {
						t.Errorf("call %s(%s) has flaws %b", c.name, c.args, c.flaws)
					}
				}
				chunkings(t, r.options(), cut, r.Text, got)
				if r.Chunks != nil {
					split(t, r.options(), cut, got, r.Chunks...)
				}
				if file == "cases.jsonl" {
					cuts(t, r, 1)
				}
			})
		})
	}
}

func TestProperties(t *testing.T) {
	perFormat(t, "properties.jsonl", func(t *testing.T, r record) {
		if r.Every > 0 {
			r.Expect = r.Full
			cuts(t, r, r.Every)
			return
		}
		got := read(t, r.options(), r.Finish == "length", r.Text)
		for _, p := range r.Props {
			if err := property(p, got, r.Full); err != nil {
				t.Errorf("%s: %v in %+v", p, err, got)
			}
		}
		chunkings(t, r.options(), r.Finish == "length", r.Text, got)
	})
}

// TestRandomSplits splits turns of all formats at random, and ends some of
// them early.
func TestRandomSplits(t *testing.T) {
	byFormat := records(t, "roundtrip.jsonl")
	var all []record
	for _, list := range byFormat {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b record) int { return strings.Compare(a.ID, b.ID) })
	if len(all) == 0 {
		t.Skip("no records")
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom(all).Draw(rt, "record")
		text := r.Text
		cut := rapid.Bool().Draw(rt, "cut")
		if cut {
			text = text[:rapid.IntRange(0, len(text)).Draw(rt, "length")]
		}
		want := read(t, r.options(), cut, text)
		split(t, r.options(), cut, want, bursts(text, func() int { return rapid.IntRange(1, 60).Draw(rt, "n") })...)
	})
}

// property checks one property of a malformed turn.
func property(p string, a answer, full expected) error {
	name, arg, _ := strings.Cut(p, ":")
	fail := fmt.Errorf("does not hold")
	switch name {
	case "no_panic", "stream_equals_oneshot", "no_name_twice", "finish_is_length":
		return nil // read, splits and collect see to these
	case "arguments_valid_json":
		for _, c := range a.calls {
			if !json.Valid([]byte(c.args)) {
				return fail
			}
		}
	case "names_subset_of_full":
		for _, c := range a.calls {
			if !slices.ContainsFunc(full.Calls, func(f expectedCall) bool { return f.Name == c.name }) {
				return fail
			}
		}
	case "calls_equal_full":
		return checkCalls(a, full)
	case "calls":
		if fmt.Sprint(len(a.calls)) != arg {
			return fail
		}
	case "no_lost":
		said := a.content + a.reasoning
		for _, c := range a.calls {
			said += c.args
		}
		if !strings.Contains(said, arg) {
			return fail
		}
	case "content_contains":
		if !strings.Contains(a.content, arg) {
			return fail
		}
	case "content_ends_with":
		if !strings.HasSuffix(a.content, arg) {
			return fail
		}
	default:
		return fmt.Errorf("unknown property")
	}
	return nil
}

// cuts ends a turn by a token limit behind every so many characters.
func cuts(t *testing.T, r record, every int) {
	t.Helper()
	full, o := r.Expect, r.options()
	for i := 0; i < len(r.Text); i += every {
		part := r.Text[:i]
		a := read(t, o, true, part)
		split(t, o, true, a, perByte(part)...)
		var said strings.Builder
		said.WriteString(a.content + "\n" + a.reasoning)
		for _, c := range a.calls {
			if c.args != "" && !json.Valid([]byte(strings.ToValidUTF8(Repair(c.args), "?"))) || !strings.HasPrefix(Repair(c.args), c.args) {
				t.Fatalf("cut at %d: arguments %q cannot be completed", i, c.args)
			}
			said.WriteString("\n" + c.args)
		}
		lost(t, r.Format, part, said.String(), full)
	}
}

// lost looks for words of the full turn that the cut text holds whole and the
// answer does not, and for markers that it shows.
func lost(t *testing.T, format, part, said string, full expected) {
	t.Helper()
	spec, err := Lookup(format, Tools)
	if err != nil {
		t.Fatal(err)
	}
	for key, list := range spec.Markers() {
		if strings.HasPrefix(key, "arg.") {
			continue
		}
		for _, tag := range list {
			if tag = strings.TrimSpace(head(tag)); len(tag) < 4 {
				continue
			}
			if strings.Contains(full.Content+full.Reasoning, tag) {
				part, _, _ = strings.Cut(part, tag) // behind it, a draft looks like a call
			} else if strings.Contains(said, tag) && !args(full, tag) {
				t.Fatalf("cut at %d: %s is shown in %q", len(part), tag, said)
			}
		}
	}
	for _, w := range strings.FieldsFunc(full.Content+" "+full.Reasoning, unicode.IsSpace) {
		if len(w) < 2 || strings.ContainsAny(w, "<>{[") {
			continue // may be part of a marker, or of a call that would be a draft
		}
		if n := strings.Index(part, w); n >= 0 && n+len(w) < len(part) && !strings.Contains(said, w) {
			t.Fatalf("cut at %d: %q is lost", len(part), w)
		}
	}
}

// args reports whether an argument holds text.
func args(full expected, text string) bool {
	for _, c := range full.Calls {
		b, _ := json.Marshal(c.Arguments)
		if bytes.Contains(b, []byte(text)) {
			return true
		}
		var plain bytes.Buffer
		enc := json.NewEncoder(&plain)
		enc.SetEscapeHTML(false)
		if enc.Encode(c.Arguments) == nil && strings.Contains(plain.String(), text) {
			return true
		}
	}
	return false
}
