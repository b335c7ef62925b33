package parsers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// record is a line of the parser fixtures.
type record struct {
	ID      string
	Format  string
	Text    string
	Prefill string
	Finish  string
	Chunks  []string
	Every   int `json:"cut_every"`
	Props   []string
	Expect  expected
	Full    expected
}

// expected is what a turn should say.
type expected struct {
	Content   string
	Reasoning string
	Calls     []struct {
		Name      string
		Arguments any
	}
}

// records reads a file of fixtures and leaves out the formats that this
// version does not read, which it logs by name.
func records(t *testing.T, name string) []record {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures(t), "parsers", name))
	if err != nil {
		t.Skip(err)
	}
	var kept []record
	left := map[string]int{}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r record
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Format == "hermes" || r.Format == "qwen3" {
			kept = append(kept, r)
		} else {
			left[r.Format]++
		}
	}
	var names []string
	for f, n := range left {
		names = append(names, fmt.Sprintf("%s %d", f, n))
	}
	slices.Sort(names)
	t.Logf("%d records; left out, since their formats are not read yet: %s", len(kept), strings.Join(names, ", "))
	return kept
}

// fixtures is the folder of fixtures: DYN_FIXTURES, else beside the
// repository.
func fixtures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		at, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for ; ; at = filepath.Dir(at) {
			if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
				break
			}
			if at == filepath.Dir(at) {
				t.Fatal("no go.mod above the package")
			}
		}
		dir = filepath.Join(at, "..", "shared", "fixtures")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no fixtures at %s; set DYN_FIXTURES to run this test", dir)
	}
	return dir
}

// options are those of a record: the state at the start is what the prompt's
// tail says.
func (r *record) options() Options {
	o := Options{Tools: "hermes"}
	if r.Format == "qwen3" {
		o.Reasoning = "think"
		o.Thinks = strings.HasSuffix(strings.TrimSpace(r.Prefill), "<think>")
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
		return fmt.Errorf("%d calls, want %d", len(a.calls), len(want.Calls))
	}
	for i, c := range a.calls {
		var got any
		if err := json.Unmarshal([]byte(Repair(c.args)), &got); err != nil {
			return fmt.Errorf("arguments %q: %w", c.args, err)
		}
		if c.name != want.Calls[i].Name || !reflect.DeepEqual(got, want.Calls[i].Arguments) {
			return fmt.Errorf("call %s(%s), want %s(%v)", c.name, c.args, want.Calls[i].Name, want.Calls[i].Arguments)
		}
	}
	return nil
}

func TestCases(t *testing.T) {
	for _, file := range []string{"cases.jsonl", "roundtrip.jsonl"} {
		t.Run(file, func(t *testing.T) {
			for _, r := range records(t, file) {
				t.Run(r.ID, func(t *testing.T) {
					cut := r.Finish == "length"
					got := read(t, r.options(), cut, r.Text)
					if err := check(got, r.Expect); err != nil {
						t.Fatal(err)
					}
					splits(t, r.options(), cut, r.Text, got)
					if r.Chunks != nil {
						if a := read(t, r.options(), cut, r.Chunks...); !same(a, got) {
							t.Errorf("in chunks: %+v, one-shot %+v", a, got)
						}
					}
					cuts(t, r.options(), r.Text, r.Expect, 1)
				})
			}
		})
	}
}

func TestProperties(t *testing.T) {
	for _, r := range records(t, "properties.jsonl") {
		t.Run(r.ID, func(t *testing.T) {
			if r.Every > 0 {
				cuts(t, r.options(), r.Text, r.Full, r.Every)
				return
			}
			got := read(t, r.options(), r.Finish == "length", r.Text)
			splits(t, r.options(), r.Finish == "length", r.Text, got)
			for _, p := range r.Props {
				if err := property(p, got, r.Full); err != nil {
					t.Errorf("%s: %v in %+v", p, err, got)
				}
			}
		})
	}
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
			if !slices.ContainsFunc(full.Calls, func(f struct {
				Name      string
				Arguments any
			},
			) bool {
				return f.Name == c.name
			}) {
				return fail
			}
		}
	case "calls_equal_full":
		return checkCalls(a, full)
	case "calls":
		if fmt.Sprint(len(a.calls)) != arg {
			return fail
		}
	case "content_contains", "no_lost":
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

// cuts ends text by a token limit behind every so many characters.
func cuts(t *testing.T, o Options, text string, full expected, every int) {
	t.Helper()
	for i := 0; i < len(text); i += every {
		part := text[:i]
		a := read(t, o, true, part)
		if b := read(t, o, true, strings.Split(part, "")...); !same(a, b) {
			t.Fatalf("cut at %d: streamed %+v, one-shot %+v", i, b, a)
		}
		var said strings.Builder
		said.WriteString(a.content + "\n" + a.reasoning)
		for _, c := range a.calls {
			if c.args != "" && !json.Valid([]byte(Repair(c.args))) || !strings.HasPrefix(Repair(c.args), c.args) {
				t.Fatalf("cut at %d: arguments %q cannot be completed", i, c.args)
			}
			said.WriteString("\n" + c.args)
		}
		lost(t, part, said.String(), full)
	}
}

// lost looks for words of the full turn that the cut text holds whole and the
// answer does not.
func lost(t *testing.T, part, said string, full expected) {
	t.Helper()
	if strings.Contains(full.Content+full.Reasoning, openCall) {
		part, _, _ = strings.Cut(part, openCall) // behind it, a draft looks like a call
	}
	for _, w := range strings.FieldsFunc(full.Content+" "+full.Reasoning, unicode.IsSpace) {
		if len(w) < 2 || strings.ContainsAny(w, "<>{") {
			continue // may be part of a tag, or of a call that would be a draft
		}
		if n := strings.Index(part, w); n >= 0 && n+len(w) < len(part) && !strings.Contains(said, w) {
			t.Fatalf("cut at %d: %q is lost", len(part), w)
		}
	}
	for _, tag := range []string{openCall, closeCall, openThink, closeThink} {
		if strings.Contains(said, tag) && !strings.Contains(full.Content+full.Reasoning, tag) {
			t.Fatalf("cut at %d: %s is shown", len(part), tag)
		}
	}
}
