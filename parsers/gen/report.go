package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// Report is what people should know of a result, in Markdown.
func (r *Result) Report() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("# %s", r.Spec.Name)
	p("")
	p("Grade: **%s**. %s", r.Spec.Evidence.Verified, gradeMeans[r.Spec.Evidence.Verified])
	p("%d probes, %d renderings.", len(r.Probes), r.Renders)
	if len(r.Notes) > 0 {
		p("")
	}
	for _, n := range r.Notes {
		p("* %s", n)
	}
	if len(r.Undecided) > 0 {
		p("")
		p("## Undecided")
		p("")
		for _, u := range r.Undecided {
			p("* `%s`: %s", u.Key, u.Why)
		}
	}
	if len(r.Failures) > 0 {
		p("")
		p("## Probes that are not read back")
		p("")
		for _, f := range r.Failures {
			p("* %v", f.Err)
			p("  printed: `%s`", strings.ReplaceAll(clipTo(f.Probe.Text, 300), "`", "´"))
		}
	}
	p("")
	p("## How the template wants a conversation")
	p("")
	p("* arguments of calls as %s", choice(r.Manner.ArgumentsAsText, "JSON text", "an object"))
	p("* text beside a call is %s", choice(!r.Manner.ContentBeside, "not printed", choice(r.Manner.ContentBehind, "printed behind the calls", "printed before the calls")))
	if r.Manner.InParts {
		p("* content as a list of parts: text alone is not printed")
	}
	if r.Manner.IDs {
		p("* the id of a call is printed")
	}
	p("* several calls in one turn: %s", choice(r.Spec.Parallel, "yes", "no"))
	if len(r.Switches) > 0 {
		p("* reads beside the conversation: `%s`", strings.Join(r.Switches, "`, `"))
	}
	r.reportThought(p)
	r.reportPrefix(p)
	r.reportNames(p)
	return b.String()
}

// gradeMeans explains the grades.
var gradeMeans = map[string]string{
	Exact:   "Every probe is read back as it was put in, in every split of its text.",
	Typed:   "Every probe is read back with the schemas of the tools; without them texts and other values look alike.",
	Lossy:   "Some probes cannot be read back: the template prints less than it was given, or the form needs a reader of its own.",
	Unknown: "The form of calls is not known.",
	NoCalls: "The template prints no calls.",

	Documented: "The template prints no calls; the spec is what the model's response_template says, and reads the answers that are printed.",
}

func (r *Result) reportThought(p func(string, ...any)) {
	t := r.Spec.Reasoning
	p("")
	p("## Reasoning")
	p("")
	if t == nil {
		p("None is printed.")
		return
	}
	p("* between %s and %s, read from `%s`", list(t.Open), list(t.Close), t.Field)
	p("* of earlier turns it is %s once a user has spoken, %s while tools answer", word(t.History.AfterUser), word(t.History.InLoop))
	if t.History.Flag != "" {
		p("* `%s` changes the former; where it keeps reasoning, put it among the switches of the recipe's template", t.History.Flag)
	}
	for _, mode := range slices.Sorted(maps.Keys(t.Tails)) {
		p("* prompt's end, %s: `%q`", mode, t.Tails[mode])
	}
}

func (r *Result) reportPrefix(p func(string, ...any)) {
	if len(r.Prefix) == 0 {
		return
	}
	p("")
	p("## Prefix stability")
	p("")
	p("P1: the first prompt begins the one behind a tool's result. P2: that one begins the finished turn. P3: the finished turn begins the prompt of a new question.")
	p("")
	p("| thinking | P1 P2 P3 |")
	p("|---|---|")
	for _, s := range r.Prefix {
		p("| %s | %s |", s.Mode, spaced(s.Marks))
	}
	for _, s := range r.Prefix {
		for _, n := range s.Notes {
			p("")
			p("Thinking %s, %s. Splicing the turn as it was generated keeps the prefix within a session.", s.Mode, n)
		}
		if s.Helps != "" {
			p("")
			p("Thinking %s, among the switches of the recipe's template %s.", s.Mode, s.Helps)
		}
	}
}

// reportNames lists what other engines call the form.
func (r *Result) reportNames(p func(string, ...any)) {
	if r.Like == nil {
		return
	}
	p("")
	p("## Names of engines")
	p("")
	p("The shipped spec `%s` reads all probes.", r.Like.Spec.Name)
	if len(r.Like.Differs) > 0 {
		p("It differs from this one in what follows: it knows more than this template prints, or reads this form as another of its own.")
		p("")
		for _, d := range r.Like.Differs {
			p("* %s", d)
		}
	}
	p("")
	p("Other engines' names, for their flags: tool calls %s; reasoning %s.", list(append([]string{r.Like.Spec.Name}, r.Like.Spec.Aliases.Tools...)), list(r.thinkers()))
}

// thinkers are the names of parsers of this reasoning.
func (r *Result) thinkers() []string {
	if r.Spec.Reasoning == nil {
		return nil
	}
	set := parsers.Builtin()
	spec, err := set.Lookup(reasoner(set, r.Spec.Reasoning), parsers.Thinking)
	if err != nil {
		return r.Like.Spec.Aliases.Reasoning
	}
	return slices.Compact(slices.Concat(r.Like.Spec.Aliases.Reasoning, []string{spec.Name}, spec.Aliases.Reasoning))
}

func choice(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

func word(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// clipTo is the beginning of a text.
func clipTo(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
