package jinja

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/internal/fixtures"
)

// answer is what the reference made of a template and a scenario.
type answer = fixtures.Answer

// scenarios are the contexts to render with, by name.
func scenarios(t testing.TB) map[string]Value {
	t.Helper()
	out := map[string]Value{}
	for _, s := range fixtures.Scenarios(t) {
		v, err := Decode(s.Raw)
		if err != nil {
			t.Fatal(err)
		}
		out[s.Name] = v
	}
	return out
}

// parsed are the templates of the fixtures by name.
func parsed(t testing.TB) map[string]*Template {
	t.Helper()
	all := map[string]*Template{}
	for name, src := range fixtures.Templates(t) {
		if tmpl, err := Parse(src); err == nil {
			all[name] = tmpl
		}
	}
	return all
}

func clock() time.Time { return fixtures.Clock() }

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
	texts, contexts := fixtures.Templates(t), scenarios(t)
	equal, total, words := 0, 0, 0
	for name, answers := range fixtures.Goldens(t) {
		src, ok := texts[name]
		if !ok {
			t.Logf("no template %s", name)
			continue
		}
		tmpl, perr := Parse(src)
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
	ctx, ok := scenarios(b)["perf200"]
	if !ok {
		b.Skip("no perf200.json")
	}
	all := parsed(b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			least := time.Hour
			for b.Loop() {
				from := time.Now()
				dst, _ = all[name].Render(dst[:0], ctx, Options{Now: clock})
				least = min(least, time.Since(from))
			}
			b.ReportMetric(float64(least.Microseconds()), "least-µs")
		})
	}
}
