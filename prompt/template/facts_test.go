package template

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/internal/fixtures"
)

var update = flag.Bool("update", false, "write testdata/facts.txt anew")

// told is what is known of a template, on one line.
func told(f *facts) string {
	var words []string
	say := func(yes bool, word string) {
		if yes {
			words = append(words, word)
		}
	}
	say(len(f.parts) > 0, "parts")
	say(!f.system, "no-system")
	say(f.system && !f.systems, "one-system")
	say(f.midSystem, "system-anywhere")
	say(!f.users, "joins-users")
	say(!f.answers, "joins-answers")
	say(f.calls && !f.afterTool, "joins-to-result")
	say(!f.calls, "no-calls")
	say(f.calls && !f.results, "no-results")
	say(f.stringArgs, "text-args")
	say(f.nullContent, "calls-beside-none")
	say(f.callsApart, "calls-apart")
	say(f.oneCall, "one-call")
	say(f.shortIDs, "short-ids")
	say(f.described, "described-tools")
	say(f.bare, "bare-tools")
	say(f.oneText, "one-text")
	say(!f.pure, "own-end")
	var names []string
	for _, x := range f.flags {
		names = append(names, x.name)
	}
	effort := ""
	if f.effort.name != "" {
		effort = fmt.Sprintf("%s=%s off=%q", f.effort.name, strings.Join(f.effort.takes, ","), f.effort.off)
	}
	return fmt.Sprintf("%s; reasoning %q; thinking %s; effort %s; end %q; stops %q; closings %q",
		strings.Join(words, " "), f.reasoning, strings.Join(names, ","), effort, f.end, f.stops, f.closings)
}

// own is our name of a template: its model's, and what tells texts apart.
func own(name, text string) string {
	for _, collection := range []string{"dj-", "ik-", "npm-"} {
		name = strings.TrimPrefix(name, collection)
	}
	return fmt.Sprintf("%s %08x", strings.ToLower(name), uint32(xxh3.HashString(text)))
}

// What trying finds out about each template of the fixtures stays what it
// was. Templates that the list does not have are told and nothing else.
func TestFacts(t *testing.T) {
	const path = "testdata/facts.txt"
	texts := fixtures.Templates(t)
	data, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		known[name] = rest
	}
	var out strings.Builder
	for _, name := range sortedKeys(texts) {
		got := told(&opened(t, texts[name], nil).tools.facts)
		name = own(name, texts[name])
		fmt.Fprintf(&out, "%s: %s\n", name, got)
		switch want, ok := known[name]; {
		case *update:
		case !ok:
			t.Logf("not in the list: %s: %s", name, got)
		case got != want:
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		delete(known, name)
	}
	for name := range known {
		t.Logf("no template %s", name)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What other packages are told of templates of different tastes.
func TestTold(t *testing.T) {
	for _, c := range []struct {
		name, template string
		want           string
	}{
		{"easy", each(plainBody), "object args, reasoning reasoning, system anywhere, calls"},
		{"strict", strict, "object args, reasoning reasoning, joins users"},
		{"after results", afterResults, "object args, reasoning reasoning, joins users, joins to result, calls"},
		{
			"switched", each(`{{ m.content }}`) + `{% if enable_thinking is false %}<think></think>{% endif %}`,
			"object args, switched, system anywhere",
		},
		{
			"text", each(strings.Replace(plainBody, "c.function.arguments | tojson", "'<' + c.function.arguments + '>'", 1)),
			"reasoning reasoning, system anywhere, calls",
		},
	} {
		tmpl := opened(t, c.template, nil)
		var words []string
		for _, x := range []struct {
			yes  bool
			word string
		}{
			{tmpl.ObjectArgs(), "object args"},
			{tmpl.Reasoning() != "", "reasoning " + tmpl.Reasoning()},
			{tmpl.Switched(), "switched"},
			{tmpl.MidSystem(), "system anywhere"},
			{tmpl.JoinsUsers(), "joins users"},
			{tmpl.JoinsToResult(), "joins to result"},
			{tmpl.Calls(), "calls"},
		} {
			if x.yes {
				words = append(words, x.word)
			}
		}
		if got := strings.Join(words, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	harmony := opened(t, each(`<s>{{ m.role }}<m>{{ m.content }}{{ '<return>' if loop.last and not add_generation_prompt else '<end>' }}`), nil)
	if harmony.End() != "<end>" || fmt.Sprint(harmony.Stops()) != "[<return>]" || fmt.Sprint(harmony.Closings()) != "[<return> <end>]" {
		t.Errorf("end %q, stops %q, closings %q", harmony.End(), harmony.Stops(), harmony.Closings())
	}
}
