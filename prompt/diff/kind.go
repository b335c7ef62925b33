package diff

import (
	"regexp"
	"strings"
	"sync"
)

// longestCore is how many bytes two lines may differ in for the words there to
// tell why: more is another text.
const longestCore = 64

// ByText names what differs by the words at the place, "" where they do not
// tell: the clock, the attribution line, a path, or a number.
func ByText(t *Text) Kind {
	was, now := lineAt(t.Was, t.At), lineAt(t.Now, t.At)
	if strings.Contains(was.text, attribution) || strings.Contains(now.text, attribution) {
		return Attribution
	}
	was.differ(&now)
	if was.to-was.from > longestCore || now.to-now.from > longestCore {
		return ""
	}
	for _, p := range patterns() {
		if p.in(&was) && p.in(&now) {
			return p.kind
		}
	}
	return ""
}

const attribution = "x-anthropic-billing-header:"

// line is a line of a text, and where it differs from another one.
type line struct {
	text     string
	from, to int
}

// lineAt is the line around a place of a text.
func lineAt(s string, at int) line {
	at = min(at, len(s))
	from := strings.LastIndexByte(s[:at], '\n') + 1
	to := len(s)
	if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
		to = at + n
	}
	return line{text: s[from:to]}
}

// differ finds where two lines differ: what is between all that they have in
// common at their starts and at their ends.
func (l *line) differ(o *line) {
	n := min(len(l.text), len(o.text))
	p := 0
	for p < n && l.text[p] == o.text[p] {
		p++
	}
	s := 0
	for s < n-p && l.text[len(l.text)-1-s] == o.text[len(o.text)-1-s] {
		s++
	}
	l.from, l.to = p, len(l.text)-s
	o.from, o.to = p, len(o.text)-s
}

// pattern is how what changes by itself is written.
type pattern struct {
	kind Kind
	re   *regexp.Regexp
}

// in reports whether the difference lies in what the pattern finds.
func (p pattern) in(l *line) bool {
	for _, m := range p.re.FindAllStringIndex(l.text, -1) {
		if m[0] <= l.from && l.to <= m[1] {
			return true
		}
	}
	return false
}

const (
	month   = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	weekday = `(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?`
	hour    = `\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?)?`
	zone    = ` ?(?:z|utc|gmt|[a-z]{3,4}|[+-]\d{2}:?\d{2})?`
	day     = `(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}` +
		`|(?:\d{1,2}(?:st|nd|rd|th)?\.? )?` + month + `\.?(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?)`
)

// patterns are tried in order. Few daemons ever need them, and no command does.
var patterns = sync.OnceValue(func() []pattern {
	return []pattern{
		{Clock, regexp.MustCompile(`(?i)(?:` + weekday + `,? )?(?:` + day + `)?(?:t|,? )?` + hour + zone + `(?: \d{4})?`)},
		{Clock, regexp.MustCompile(`(?i)(?:` + weekday + `,? )?` + day)},
		{Clock, regexp.MustCompile(`(?i)\b(?:day|today|date|now)\b[^.]{0,20}\b` + weekday + `\b`)},
		{Clock, regexp.MustCompile(`\b1[5-9]\d{8}(?:\d{3}|\.\d+)?\b`)},
		{Clock, regexp.MustCompile(`(?i)\b\d+ (?:milli)?(?:seconds?|minutes?|hours?|ms|secs?|mins?) (?:ago|left|elapsed|passed)`)},
		{Folder, regexp.MustCompile(`(?:^|[\s"'<>=(:` + "`" + `])(?:~|[A-Za-z]:)?(?:[/\\][^\s"'<>|*?/\\` + "`" + `]+){2,}[/\\]?`)},
		{Folder, regexp.MustCompile(`(?i)(?:cwd|directory|folder|workspace)\W{1,4}[^\s"'<>]+`)},
		{Value, regexp.MustCompile(`\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`)},
		{Value, regexp.MustCompile(`\b[a-z]{0,8}[-_]?[0-9a-fA-F]*[0-9][0-9a-fA-F]*\b`)},
		{Value, regexp.MustCompile(`\d[\d.,]*\d?%?`)},
	}
})

// summaries are words of what stands for a conversation that was summed up, in
// lower case, as clients were recorded or are known to write them.
var summaries = []string{
	"continued from a previous conversation", // Claude Code
	"another language model started",         // Codex
	"what did we do so far?",                 // OpenCode
	"compacted into the following summary",   // Pi
	"<state_snapshot>",                       // Qwen Code
	"summary of the conversation",
	"conversation summary",
	"context checkpoint",
}

// Summary reports whether a text says that it stands for a conversation.
func Summary(text string) bool {
	text = strings.ToLower(text)
	for _, s := range summaries {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
