package core

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		name   string
		stop   string // separated by |
		keep   bool
		tokens string // separated by |
		want   string // pieces, separated by |; the last one is the end's
		met    string
	}{
		{"plain", "", false, "a|b|c", "a|b|c|", ""},
		{"half a character", "", false, "\xc3|\xa9x", "|éx|", ""},
		{"a space waits with its character", "", false, " \xc3|\xa9", "| é|", ""},
		{"never whole", "", false, "\xd4|\xd4|\xd4", "|||", ""},
		{"never whole, then text", "", false, "\xd4|\xd4a", "|\ufffd\ufffda|", ""},
		{"held back for a stop", "-way lắ", false, " lắng|-way| lắng", "| lắ|ng", "-way lắ"},
		{"the whole token is the stop", "-way", false, " lắng|-way", " l|ắng", "-way"},
		{"kept", "-way", true, " lắng|-way", " lắng|-way", "-way"},
		{"kept, in the middle", "b", true, "a|xbc", "a|xb", "b"},
		{"let go at the end", "xyz", false, "a|bxy", "|ab|xy", ""},
		{"first in the list wins", "c|b", false, "abc", "ab", "c"},
		{"across tokens", "bcd", false, "ab|c|d", "|a|", "bcd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stop []string
			if c.stop != "" {
				stop = strings.Split(c.stop, "|")
			}
			pieces, met := pieces(newText(stop, c.keep), strings.Split(c.tokens, "|"))
			if got := strings.Join(pieces, "|"); got != c.want || met != c.met {
				t.Errorf("want %q (%q), got %q (%q)", c.want, c.met, got, met)
			}
		})
	}
}

// pieces pushes tokens until a stop string is met or none is left.
func pieces(x text, tokens []string) (out []string, met string) {
	for _, tok := range tokens {
		var end *End
		if met = x.met(x.push(tok)); met != "" {
			end = &End{}
		}
		out = append(out, string(x.move(nil, end)))
		if end != nil {
			return out, met
		}
	}
	return append(out, string(x.move(nil, &End{}))), ""
}

// FuzzText: however text is cut into tokens, what comes out is valid, is cut
// before the first stop string, and is the same.
func FuzzText(f *testing.F) {
	f.Add("hello wörld, stop here", "stop", 3)
	f.Add("aaab", "aab", 1)
	f.Fuzz(func(t *testing.T, s, stop string, cut int) {
		if stop == "" || !utf8.ValidString(s) || !utf8.ValidString(stop) || strings.Contains(s, "\ufffd") {
			t.Skip()
		}
		cut = max(cut, 1)
		var tokens []string
		for at := 0; at < len(s); at += cut {
			tokens = append(tokens, s[at:min(at+cut, len(s))])
		}
		parts, met := pieces(newText([]string{stop}, false), tokens)
		want, _, found := strings.Cut(s, stop)
		if got := strings.Join(parts, ""); got != want || found != (met != "") {
			t.Errorf("want %q, got %q, met %q", want, got, met)
		}
	})
}
