package check

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// chatML is a template of few words.
const chatML = `{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }} {{ c.function.arguments|tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if tools %}{{ tools|tojson }}
{% endif %}<|im_start|>assistant
`

// TestEqual checks engines that make the same prompts.
func TestEqual(t *testing.T) {
	sim := folder(t, nil)
	for _, text := range []bool{false, true} {
		r := Run(t.Context(), unaidedEngine{m: sim, x: manners[0], text: text}, sim)
		if len(r.Findings) != 8 || r.Reason() != "" || r.Summary() != "8 conversations compared: 8 equal" {
			t.Errorf("text only %v: %s", text, r)
		}
		if only := strings.Contains(r.String(), "only its text is shown"); only != text {
			t.Errorf("text only %v: %s", text, r)
		}
	}
}

// TestDiffers checks what is shown of engines that make other prompts.
func TestDiffers(t *testing.T) {
	ours := folder(t, map[string]string{"chat_template.jinja": chatML})
	for _, c := range []struct {
		name     string
		template string
		text     bool
	}{
		{"another template", strings.ReplaceAll(chatML, "<tool_call>", "<call>"), false},
		{"another template, by text", strings.ReplaceAll(chatML, "|tojson }}\n{% endif", "|tojson(indent=1) }}\n{% endif"), true},
		{"one token more", "<think>" + chatML, false},
		{"an opening less", strings.TrimSuffix(chatML, "assistant\n"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			theirs := folder(t, map[string]string{"chat_template.jinja": c.template})
			r := Run(t.Context(), unaidedEngine{m: theirs, x: manners[2], text: c.text}, ours)
			golden(t, strings.NewReplacer(" ", "-", ",", "").Replace(c.name)+".txt", r.Reason()+"\n"+r.String())
		})
	}
}

// TestIDsDiffer checks an engine whose prompt is the same text in other ids.
func TestIDsDiffer(t *testing.T) {
	m := folder(t, map[string]string{"chat_template.jinja": chatML})
	var ids []uint32
	for _, b := range []byte("<|im_start|>user\n" + talks()[0].turn.Messages[0].Blocks[0].Text + "<|im_end|>\n<|im_start|>assistant") {
		ids = m.Tokenizer().Encode(ids, string(rune(b)))
	}
	r := Run(t.Context(), told{rendered: engine.Rendered{IDs: ids}}, m)
	if f := r.Findings[0]; f.Result != Differs || !strings.Contains(f.Diff, "of the same text") {
		t.Errorf("%+v", f)
	}
}

// TestAdapted checks that a conversation which dyn puts into another form for
// the template's sake counts as the same template, and a date as the same date.
func TestAdapted(t *testing.T) {
	silent := `{% for m in messages %}{{ m.role }}: {{ m.content }}
{% endfor %}{{ strftime_now('%d %b') }}`
	m := folder(t, map[string]string{"chat_template.jinja": silent})
	for i, x := range manners {
		yesterday := func() time.Time { return time.Now().AddDate(0, 0, -1) }
		e := unaidedEngine{m: m, x: x}
		r := Run(t.Context(), e, m)
		if want := "8 conversations compared: 5 equal, 3 adapted"; !x.null && !x.parts && r.Summary() != want || r.Reason() != "" {
			t.Errorf("manner %d: %s", i, r)
		}
		e.now = yesterday
		r = Run(t.Context(), e, m)
		if x == manners[0] && (r.Reason() != "" || !strings.Contains(r.String(), "another day's")) {
			t.Errorf("the day before: %s", r)
		}
	}
}

// TestRefusals checks who refuses what, and what that means.
func TestRefusals(t *testing.T) {
	const strict = `{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system here') }}{% endif %}{{ m.content }}{% endfor %}`
	plain := folder(t, map[string]string{"chat_template.jinja": chatML})
	picky := folder(t, map[string]string{"chat_template.jinja": strict})
	never := folder(t, map[string]string{"chat_template.jinja": `{{ raise_exception('never') }}`})
	refused := &turn.Refused{Status: 400, Message: "roles must\nalternate \x1b[31m"}
	for _, c := range []struct {
		name   string
		e      engine.Client
		m      any
		result Result
		reason bool
	}{
		{"the engine refuses", told{err: refused}, nil, Ours, false},
		{"both refuse", told{err: refused}, never, Refused, false},
		{"dyn refuses", told{rendered: engine.Rendered{Text: "x"}}, never, Theirs, true},
		{"not shown", told{err: fmt.Errorf("x: %w", errors.ErrUnsupported)}, nil, NotShown, false},
		{"lost", told{err: fmt.Errorf("x: %w", turn.ErrLost)}, nil, NoAnswer, false},
		{"no renderer", nil, nil, NotShown, false},
		{"an empty answer", told{}, nil, Differs, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := plain
			if c.m != nil {
				m = never
			}
			r := Run(t.Context(), c.e, m)
			for _, f := range r.Findings {
				if f.Result != c.result {
					t.Errorf("%s: %s, want %s", f.Name, f.Result, c.result)
				}
			}
			if (r.Reason() != "") != c.reason {
				t.Errorf("reason %q", r.Reason())
			}
			if strings.ContainsAny(r.String(), "\x1b\x07") {
				t.Errorf("%q moves a terminal", r)
			}
		})
	}
	r := Run(t.Context(), unaidedEngine{m: picky, x: manners[0]}, picky)
	if r.Reason() != "" || !strings.Contains(r.Summary(), "ours only") {
		t.Errorf("a template that refuses system messages: %s", r)
	}
}

// TestEnds checks that a check ends with its context.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := Run(ctx, waits{}, folder(t, nil))
	if r.Findings[0].Result != NoAnswer || r.Reason() != "" {
		t.Error(r)
	}
}

// TestTemplates lists what becomes of engines with the templates of the
// fixtures: where dyn's prompt is another one than what the template prints
// without help. No template may differ from itself.
func TestTemplates(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(fixtures.Dir(t, "templates"), "*.jinja"))
	if err != nil || len(names) == 0 {
		t.Fatal("no templates", err)
	}
	var list strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := folder(t, map[string]string{"chat_template.jinja": string(data)})
		r := Run(t.Context(), unaidedEngine{m: m, x: manners[0]}, m)
		if why := r.Reason(); why != "" {
			t.Errorf("%s: %s", filepath.Base(name), r)
		}
		fmt.Fprintf(&list, "%s: %s\n", filepath.Base(name), strings.TrimPrefix(r.Summary(), "8 conversations compared: "))
	}
	golden(t, "templates.txt", list.String())
}

func BenchmarkDiffers(b *testing.B) {
	m := folder(b, map[string]string{"chat_template.jinja": chatML})
	for b.Loop() {
		Run(b.Context(), told{rendered: engine.Rendered{Text: "x"}}, m)
	}
}
