package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/mattn/go-runewidth"
)

// cells counts cells as most terminals do. It does not ask the locale, so a
// frame is the same everywhere.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// width returns the cells that s takes.
func width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return cells.StringWidth(s)
		}
	}
	return len(s)
}

// maxClean is how many bytes of a text from outside are looked at.
const maxClean = 256

// clean returns text from outside as it may be printed. Control characters
// and broken bytes become one visible sign, line breaks and tabs spaces.
// Marks that terminals disagree about are left out: directions, joiners,
// variation selectors, piled up accents. In ASCII mode every other character
// becomes the sign.
func (b *brush) clean(s string) string {
	if printable(s) && len(s) <= maxClean {
		return s
	}
	var out strings.Builder
	seen, accents, base := 0, 0, 0 // base is where the last character begins
	for i, r := range s {
		if i >= maxClean {
			out.WriteString(b.g.more)
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			r = ' '
		case r == utf8.RuneError || unicode.IsControl(r):
			base = out.Len()
			out.WriteString(b.g.odd)
			seen, accents = seen+1, 0
			continue
		case r >= utf8.RuneSelf && b.ascii:
			r = '?'
		case unicode.Is(unicode.Mn, r):
			if seen == 0 || accents == maxAccents || selector(r) || disputed(out.String()[base:], r) {
				continue
			}
			accents++
			out.WriteRune(r)
			continue
		case !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r), unicode.Is(unicode.M, r), modifier(r):
			continue
		case cells.RuneWidth(r) == 0:
			continue
		}
		if r >= utf8.RuneSelf && disputed(out.String()[base:], r) {
			base = out.Len()
			out.WriteString(b.g.odd)
			seen, accents = seen+1, 0
			continue
		}
		base = out.Len()
		out.WriteRune(r)
		seen, accents = seen+1, 0
	}
	return out.String()
}

// disputed reports whether two ways of counting differ on the cells of r after
// the character before, as they do where r joins with it. Bubble Tea counts in
// the second way.
func disputed(before string, r rune) bool {
	want := width(before) + cells.RuneWidth(r)
	s := before + string(r)
	return width(s) != want || lipgloss.Width(s) != want
}

// maxAccents is how many accents a character keeps.
const maxAccents = 2

// printable reports whether s is printable ASCII.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// selector reports whether r only chooses another form of the sign before it.
func selector(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF }

// modifier reports whether r only colours the sign before it.
func modifier(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// middle shortens clean text to n cells by leaving out its middle.
func (b *brush) middle(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n <= 1 {
		return cut(b.g.more, n)
	}
	tail := (n - 1) / 2
	return cut(s, n-1-tail) + b.g.more + cutLeft(s, tail)
}

// cut returns the longest beginning of s that takes at most n cells.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if width(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		used += cells.RuneWidth(r)
		if used > n {
			return s[:i]
		}
	}
	return s
}

// cutLeft returns the longest end of s that takes at most n cells and does
// not begin with an accent.
func cutLeft(s string, n int) string {
	used, from := 0, len(s)
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		w := cells.RuneWidth(r)
		if used += w; used > n {
			break
		}
		if w > 0 {
			from = i
		}
	}
	return s[from:]
}
