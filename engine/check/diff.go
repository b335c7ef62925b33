package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/prompt"
)

// What is shown of a difference.
const (
	linesBefore = 2
	linesAfter  = 3
	idsAfter    = 5
	widest      = 160 // characters of a line
	decoded     = 400 // ids of theirs behind the first other one that become text
)

// difference shows where two prompts part. ours must not equal theirs.
func difference(m *prompt.Model, ours page, theirs engine.Rendered) string {
	if theirs.IDs == nil {
		return textDifference(ours.text, theirs.Text, "")
	}
	at := shared(ours.ids, theirs.IDs)
	tok := m.Tokenizer()
	shown := theirs.IDs[:min(len(theirs.IDs), at+decoded)]
	text := string(tok.Decode(nil, shown))
	own := string(tok.Decode(nil, ours.ids))
	if whole := len(shown) == len(theirs.IDs); !strings.HasPrefix(own, text) || whole && own != text {
		return textDifference(own, text, fmt.Sprintf(", token %d of %d", at, len(ours.ids)))
	}
	return idDifference(m, ours.ids, theirs.IDs, at)
}

// shared is how long two lists are the same.
func shared[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// textDifference shows the lines around the first other byte.
func textDifference(ours, theirs, where string) string {
	at := shared([]byte(ours), []byte(theirs))
	for at > 0 && at < len(ours) && !utf8.RuneStart(ours[at]) {
		at--
	}
	start := strings.LastIndexByte(ours[:at], '\n') + 1
	var b strings.Builder
	fmt.Fprintf(&b, "from line %d, byte %d%s on (- the engine's, + dyn's):\n", 1+strings.Count(ours[:at], "\n"), at, where)
	before := strings.SplitAfter(ours[:start], "\n")
	before = before[:len(before)-1] // what is behind the last line feed: nothing
	for _, line := range before[max(0, len(before)-linesBefore):] {
		b.WriteString("  " + visible(line, 0) + "\n")
	}
	for _, side := range []struct{ mark, text string }{{"- ", theirs[start:]}, {"+ ", ours[start:]}} {
		column := at - start
		for i, line := range strings.SplitAfterN(side.text, "\n", linesAfter+1) {
			if i == linesAfter {
				break
			}
			switch {
			case line != "":
				b.WriteString(side.mark + visible(line, column) + "\n")
			case i == 0:
				b.WriteString(side.mark + "(its end)\n")
			}
			column = 0
		}
	}
	return b.String()
}

// idDifference shows the ids around the first other one, of one text.
func idDifference(m *prompt.Model, ours, theirs []uint32, at int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "from token %d of %d on, of the same text (- the engine's, + dyn's):\n", at, len(ours))
	for _, side := range []struct {
		mark string
		ids  []uint32
	}{{"-", theirs}, {"+", ours}} {
		b.WriteString(side.mark)
		for _, id := range side.ids[at:min(len(side.ids), at+idsAfter)] {
			fmt.Fprintf(&b, " %d %q", id, m.Tokenizer().Token(id))
		}
		if len(side.ids) == at {
			b.WriteString(" (its end)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// visible is a line such that all of it can be seen, and nothing in it moves a
// terminal: of a long one what is around a column, in bytes.
func visible(line string, column int) string {
	text, ended := strings.CutSuffix(line, "\n")
	from := 0
	if column > widest/2 {
		from = min(column, len(text)) - widest/2
		for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
			from--
		}
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	n := 0
	for i, r := range text[from:] {
		if n++; n > widest {
			b.WriteString("…")
			return b.String()
		}
		switch {
		case r == utf8.RuneError:
			_, size := utf8.DecodeRuneInString(text[from+i:])
			if size == 1 {
				fmt.Fprintf(&b, "\\x%02x", text[from+i])
				continue
			}
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	if ended {
		b.WriteString("⏎")
	}
	return b.String()
}

// clip is a message on one line that is not too long.
func clip(s string) string { return visible(strings.Join(strings.Fields(s), " "), 0) }

// cause says in words how two prompts differ, where there is a word for it.
func cause(ours page, theirs engine.Rendered) string {
	a, b := ours.ids, theirs.IDs
	switch {
	case b == nil:
		return "another text"
	case len(b) > 1 && slices.Equal(a, b[1:]):
		return "it begins with one token more"
	case len(a) > 1 && slices.Equal(a[1:], b):
		return "it begins with one token less"
	}
	return ""
}
