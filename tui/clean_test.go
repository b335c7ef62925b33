package tui

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", 400)
	for _, c := range []struct{ in, want, ascii string }{
		{"main", "main", "main"},
		{"a\tb\nc", "a b c", "a b c"},
		{"\x1b[31mred", "\uFFFD[31mred", "?[31mred"},
		{"\x9b2J", "\uFFFD2J", "?2J"},
		{"\u009b2J", "\uFFFD2J", "?2J"},
		{"nul\x00del\x7f", "nul\uFFFDdel\uFFFD", "nul?del?"},
		{"\u202Eabc\u2066\u200d\ufeff", "abc", "?abc???"},
		{"東京", "東京", "??"},
		{"é\u0301\u0301\u0301", "é\u0301\u0301", "????"},
		{"\u0301a", "a", "?a"},
		{"❤\ufe0f", "❤", "??"},
		{"👍🏽", "👍", "??"},
		{long, long[:256] + "…", long[:256] + "~"},
	} {
		if got := newBrush(&View{}).clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
		if got := newBrush(&View{ASCII: true}).clean(c.in); got != c.ascii {
			t.Errorf("clean(%q) in ASCII = %q, want %q", c.in, got, c.ascii)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a", "\x1b[0m", "👩‍👩‍👧‍👦", "🇩🇪", "한국어", "क्लॉड", "e\u0301\u0301\u0301"} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = n & 63
		b := newBrush(&View{})
		c := b.clean(s)
		l := b.fit(say(b.middle(c, n), plain), n, left)
		if l.width() != n {
			t.Errorf("%q in %d cells takes %d: %q", s, n, l.width(), l.text())
		}
		if got := lipgloss.Width(l.text()); got != n {
			t.Errorf("%q in %d cells takes %d as Bubble Tea counts: %q", s, n, got, l.text())
		}
		sum := 0
		for _, r := range c {
			if r < 0x20 || r == 0x7f {
				t.Errorf("clean(%q) = %q", s, c)
			}
			sum += cells.RuneWidth(r)
		}
		if sum != width(c) {
			t.Errorf("clean(%q) = %q: %d cells by characters, %d by signs", s, c, sum, width(c))
		}
	})
}

func TestMiddle(t *testing.T) {
	b := newBrush(&View{})
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"worker", 6, "worker"},
		{"worker-17", 6, "wor…17"},
		{"worker", 1, "…"},
		{"worker", 0, ""},
		{"東京都庁", 5, "東…庁"},
		{"東京都庁", 4, "東…"},
	} {
		if got := b.middle(c.in, c.n); got != c.want {
			t.Errorf("middle(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	b := newBrush(&View{})
	for _, c := range []struct{ got, want string }{
		{b.count(0), "0"},
		{b.count(-1), "–"},
		{b.count(999), "999"},
		{b.count(999.6), "1.0k"},
		{b.count(9949), "9.9k"},
		{b.count(9951), "10k"},
		{b.count(142_336), "142k"},
		{b.count(999_600), "1.0M"},
		{b.count(1.2e9), "1.2G"},
		{b.count(1e18), ">999T"},
		{b.count(math.NaN()), "–"},
		{b.rate(0.4), "0.4"},
		{b.rate(41.3), "41"},
		{b.percent(0.931, 1), "93.1%"},
		{b.percent(0.9999, 1), "99.9%"},
		{b.percent(0.999, 0), "99%"},
		{b.percent(1, 0), "100%"},
		{b.percent(-1, 0), "–"},
		{b.percent(math.Inf(1), 0), "–"},
		{b.millis(0), "0ms"},
		{b.millis(999.6), "1.0s"},
		{b.millis(1100), "1.1s"},
		{b.millis(12_400), "12s"},
		{b.millis(-1), "–"},
		{b.seconds(252), "4m12s"},
		{b.seconds(3480), "58m"},
		{b.seconds(11_045), "3h04m"},
		{b.seconds(40_000), "11h"},
		{b.seconds(273_600), "3d04h"},
		{b.seconds(1e7), "115d"},
		{b.seconds(1e18), ">9y"},
		{b.share(nil), "–"},
		{b.share(share(0.5)), "0.50"},
		{b.ago(time.Time{}), "–"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestBars(t *testing.T) {
	b := newBrush(&View{})
	for _, c := range []struct {
		share float64
		want  string
	}{{0, "░░░░░░░░"}, {0.001, "█░░░░░░░"}, {0.5, "████░░░░"}, {0.999, "███████░"}, {1, "████████"}, {7, "████████"}} {
		if got := b.bar(c.share, 8, good).text(); got != c.want {
			t.Errorf("bar(%v) = %q, want %q", c.share, got, c.want)
		}
	}
	if got, top := b.spark([]float64{0, 1, -1, 4, 8}, 6); got != " ▁▂ ▅█" || top != 8 {
		t.Errorf("spark = %q, %v", got, top)
	}
	if got, top := b.spark([]float64{-1}, 3); got != "   " || top != -1 {
		t.Errorf("spark of nothing = %q, %v", got, top)
	}
}
