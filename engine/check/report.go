package check

import (
	"cmp"
	"fmt"
	"strings"
)

// Result is what came of one conversation.
type Result string

// The results.
const (
	Equal    Result = "equal"
	Adapted  Result = "adapted"   // the same template; dyn helps it where the engine does not
	Differs  Result = "differs"   // the engine makes another prompt
	Ours     Result = "ours only" // the engine refuses the conversation
	Theirs   Result = "theirs only"
	Refused  Result = "refused"   // by both
	NotShown Result = "not shown" // the engine has no route that shows it
	NoAnswer Result = "no answer" // in time, or at all
)

// Finding is what came of one conversation, and why.
type Finding struct {
	Name   string `json:"name"`
	Result Result `json:"result"`
	Why    string `json:"why,omitempty"`
	Diff   string `json:"diff,omitempty"` // with Differs and Adapted: lines for people
}

// differs reports whether the turns are better made by the engine.
func (f *Finding) differs() bool { return f.Result == Differs || f.Result == Theirs }

// Report is what a check found. The zero value says that nothing was looked
// at. It is never changed once it is made.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Reason says why the engine should make the prompts, in a few words; "" when
// there is no reason.
func (r Report) Reason() string {
	first, n := "", 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.differs() {
			first = cmp.Or(first, f.Name)
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("its prompts differ in %d of %d conversations, first: %s", n, len(r.Findings), first)
}

// Summary is the report on one line.
func (r Report) Summary() string {
	if len(r.Findings) == 0 {
		return "not compared"
	}
	var parts []string
	for _, result := range []Result{Equal, Adapted, Differs, Theirs, Ours, Refused, NotShown, NoAnswer} {
		n := 0
		for i := range r.Findings {
			if r.Findings[i].Result == result {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	return fmt.Sprintf("%d conversations compared: %s", len(r.Findings), strings.Join(parts, ", "))
}

// shownDiffs is of how many conversations a report shows the differences: one
// cause has mostly many.
const shownDiffs = 3

// String is the report on many lines, with the first differences.
func (r Report) String() string {
	var b strings.Builder
	diffs := 0
	b.WriteString(r.Summary() + "\n")
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Result == Equal && f.Why == "" {
			continue
		}
		fmt.Fprintf(&b, "  %s: %s", f.Name, f.Result)
		if f.Why != "" {
			b.WriteString(": " + f.Why)
		}
		b.WriteByte('\n')
		if f.Diff != "" && diffs < shownDiffs {
			diffs++
			for line := range strings.Lines(f.Diff) {
				b.WriteString("    " + line)
			}
		}
	}
	return b.String()
}
