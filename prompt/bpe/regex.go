package bpe

import (
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// patience is how long one stage may look at one part of a text. Patterns
// that take longer than that backtrack without end; what they have not cut
// by then stays one piece.
const patience = 2 * time.Second

// stages cut text by patterns that have no scanner, one after the other. What
// a pattern does not match is a piece too.
type stages []*regexp2.Regexp

// newStages compiles the patterns, or says why they cannot be trusted to mean
// here what they mean where the file comes from.
func newStages(patterns []string) (stages, error) {
	var all stages
	for _, p := range patterns {
		ours, fault := translate(p)
		if fault != "" {
			return nil, unsupported("split pattern %q: %s", clip(p), fault)
		}
		re, err := regexp2.Compile(ours)
		if err != nil {
			return nil, unsupported("split pattern %q: %v", clip(p), err)
		}
		re.MatchTimeout = patience
		all = append(all, re)
	}
	if len(all) == 1 && !covers(all[0], probe) {
		return nil, unsupported("split pattern %q: its pieces do not join to the text again", clip(patterns[0]))
	}
	return all, nil
}

// probe has what a split pattern must have a piece for.
const probe = "Hello, World's don't 3.14 1234567 été e\u0301 ÇA İstanbul ǅ ʰ ª 漢字かなカナ 한국어 العربية हिन्दी ไทย \u200d🙂👩\u200d💻 " +
	"\t\n\r\n  \n   x_y(z)[0] := \"a\" && b || !c;\r\n\u00a0\u3000\u0000\u007f\ue000 Ⅳ ² ½ ٣ 〇 々 #!/bin/sh <|x|> a/b\n/\n  end  "

// covers says whether what re matches in text joins to text again.
func covers(re *regexp2.Regexp, text string) bool {
	found, err := re.FindAllStringIndex(text, -1)
	at := 0
	for _, m := range found {
		if m[0] != at {
			return false
		}
		at = m[1]
	}
	return err == nil && at == len(text)
}

// cut returns where the pieces of text end.
func (p stages) cut(text string) []int {
	ends := []int{len(text)}
	for _, re := range p {
		var finer []int
		from := 0
		for _, end := range ends {
			finer = cutOne(finer, re, text[from:end], from)
			from = end
		}
		ends = finer
	}
	return ends
}

// cutOne appends where the pieces of part end; from is where in the text it
// begins.
func cutOne(ends []int, re *regexp2.Regexp, part string, from int) []int {
	found, _ := re.FindAllStringIndex(part, -1) // an error is a match less
	last := 0
	for _, m := range found {
		if m[0] < last || m[1] <= m[0] {
			continue
		}
		if m[0] > last {
			ends = append(ends, from+m[0])
		}
		ends = append(ends, from+m[1])
		last = m[1]
	}
	if last < len(part) {
		ends = append(ends, from+len(part))
	}
	return ends
}

// without matches the end of a class that takes another class away, or keeps
// what both have.
var without = regexp.MustCompile(`^&&\[(\^?)((?:[^\[\]\\]|\\.)+)\]\]`)

// strange are escapes that mean another thing, or nothing, in another engine.
const strange = "wWbBhHRXKGkZzAyYO"

// translate writes a pattern of Oniguruma or Rust as regexp2 reads it. fault
// says what has no sure translation.
func translate(pattern string) (ours, fault string) {
	var b strings.Builder
	inside := false
	for i := 0; i < len(pattern); i++ {
		c, rest := pattern[i], pattern[i:]
		switch {
		case c == '\\' && len(rest) > 1:
			if strings.IndexByte(strange, rest[1]) >= 0 {
				return "", `\` + rest[1:2] + " differs between engines"
			}
			b.WriteString(rest[:2])
			i++
			continue
		case inside && strings.HasPrefix(rest, "&&"):
			m := without.FindStringSubmatch(rest)
			if m == nil {
				return "", "&& in a form that has no translation"
			}
			b.WriteString("-[" + map[string]string{"^": "", "": "^"}[m[1]] + m[2] + "]]")
			i += len(m[0]) - 1
			inside = false
			continue
		case inside && c == '[':
			return "", "a class inside a class"
		case inside && c == ']':
			inside = false
		case !inside && c == '[':
			inside = true
			if strings.HasPrefix(rest, "[^") {
				b.WriteByte(c)
				c, i = '^', i+1
			}
		case !inside && (c == '^' || c == '$'):
			return "", string(c) + " differs between engines"
		}
		b.WriteByte(c)
	}
	return b.String(), ""
}
