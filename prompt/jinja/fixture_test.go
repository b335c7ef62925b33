package jinja

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fixtures is the folder of templates with their reference answers:
// DYN_FIXTURES, else the one beside the repository.
func fixtures(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		top, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(top, "go.mod")); err == nil {
				break
			}
			top = filepath.Dir(top)
		}
		dir = filepath.Join(top, "..", "shared", "fixtures")
	}
	dir = filepath.Join(dir, "templates")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no templates at %s; set DYN_FIXTURES to run this test", dir)
	}
	return dir
}

// answer is what the reference made of a template and a scenario.
type answer struct {
	Out *string `json:"out"`
	Err string  `json:"err"`
}

func goldens(t testing.TB, dir string) map[string]map[string]answer {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join(dir, "golden.json.gz"))
	if err != nil {
		t.Skipf("no reference answers: %v", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]answer
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// scenarios are the contexts to render with, by name.
func scenarios(t testing.TB, dir string) map[string]Value {
	t.Helper()
	type scenario struct {
		Name string          `json:"name"`
		Ctx  json.RawMessage `json:"ctx"`
	}
	var list []scenario
	if data, err := os.ReadFile(filepath.Join(dir, "scenarios.json")); err == nil {
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "perf200.json")); err == nil {
		var s scenario
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	out := map[string]Value{}
	for _, s := range list {
		v, err := Decode(s.Ctx)
		if err != nil {
			t.Fatal(err)
		}
		out[s.Name] = v
	}
	return out
}

func clock() time.Time { return time.Date(2025, 6, 5, 13, 4, 9, 0, time.UTC) }

// shown is an error as the reference writes it.
func shown(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind + ": " + e.Msg
	}
	return err.Error()
}

// Every template with every scenario gives the text that the reference gives,
// or an error where it gives one, in its words if the template chose them.
func TestGolden(t *testing.T) {
	dir := fixtures(t)
	all, contexts := goldens(t, dir), scenarios(t, dir)
	equal, total, words := 0, 0, 0
	for name, answers := range all {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Logf("no template %s", name)
			continue
		}
		tmpl, perr := Parse(string(src))
		for s, want := range answers {
			ctx, ok := contexts[s]
			if !ok {
				t.Logf("no scenario %s", s)
				continue
			}
			total++
			var got []byte
			err := perr
			if perr == nil {
				got, err = tmpl.Render(nil, ctx, Options{Now: clock})
			}
			if fault := differs(want, string(got), err); fault != "" {
				t.Errorf("%s, %s: %s", name, s, fault)
				continue
			}
			equal++
			if want.Out == nil && !strings.Contains(shown(err), want.Err) {
				words++
				t.Logf("%s, %s: in other words: %q, reference %q", name, s, shown(err), want.Err)
			}
		}
	}
	t.Logf("%d of %d equal the reference, %d errors in other words", equal, total, words)
}

// differs says what is wrong with a rendering, "" if nothing.
func differs(want answer, got string, err error) string {
	switch {
	case want.Out == nil && err == nil:
		return "no error, reference: " + want.Err
	case want.Out == nil:
		if msg, ok := strings.CutPrefix(want.Err, "TemplateError: "); ok && shown(err) != "TemplateError: "+msg {
			return "error " + shown(err) + ", reference: " + want.Err
		}
		return ""
	case err != nil:
		return "error " + err.Error()
	case got != *want.Out:
		i := 0
		for i < len(got) && i < len(*want.Out) && got[i] == (*want.Out)[i] {
			i++
		}
		from := max(0, i-40)
		return "got …" + quote(got[from:min(len(got), i+60)]) + ", want …" + quote((*want.Out)[from:min(len(*want.Out), i+60)])
	}
	return ""
}

// BenchmarkPerf200 renders the conversation of 201 messages. On a machine
// that does other things too, the fastest of many renderings says most.
func BenchmarkPerf200(b *testing.B) {
	dir := fixtures(b)
	ctx, ok := scenarios(b, dir)["perf200"]
	if !ok {
		b.Skip("no perf200.json")
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.jinja"))
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		tmpl, err := Parse(string(src))
		if err != nil {
			continue
		}
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			least := time.Hour
			for b.Loop() {
				from := time.Now()
				dst, _ = tmpl.Render(dst[:0], ctx, Options{Now: clock})
				least = min(least, time.Since(from))
			}
			b.ReportMetric(float64(least.Microseconds()), "least-µs")
		})
	}
}
