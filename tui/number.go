package tui

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// count writes a number of things in at most four cells: 999, 9.9k, 142k,
// 1.2M. Less than nothing is unknown.
func (b *brush) count(n float64) string {
	if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return b.g.unknown
	}
	if n < 999.5 {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	for _, unit := range []string{"k", "M", "G", "T"} {
		n /= 1000
		switch {
		case n < 9.95:
			return strconv.FormatFloat(n, 'f', 1, 64) + unit
		case n < 999.5:
			return strconv.FormatFloat(n, 'f', 0, 64) + unit
		}
	}
	return ">999T"
}

// rate writes a number per second, with one digit after the point below ten.
// Nothing at all is 0.
func (b *brush) rate(n float64) string {
	if n > 0 && n < 9.95 {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return b.count(n)
}

// percent writes a share of 0 to 1 with digits after the point, nil and less
// than 0 as unknown. What is not quite all is never written as 100 %.
func (b *brush) percent(share float64, digits int) string {
	if share < 0 || math.IsNaN(share) || math.IsInf(share, 0) {
		return b.g.unknown
	}
	p := share * 100
	if s := strconv.FormatFloat(p, 'f', digits, 64); p >= 100 || s != strconv.FormatFloat(100, 'f', digits, 64) {
		return s + "%"
	}
	return strconv.FormatFloat(100-math.Pow10(-digits), 'f', digits, 64) + "%"
}

// share writes a share of 0 to 1 as 0.97.
func (b *brush) share(p *float64) string {
	if p == nil || math.IsNaN(*p) || math.IsInf(*p, 0) {
		return b.g.unknown
	}
	return strconv.FormatFloat(*p, 'f', 2, 64)
}

// optional returns what p points to, -1 for nil.
func optional(p *float64) float64 {
	if p == nil {
		return -1
	}
	return *p
}

// millis writes a latency in at most five cells: 0ms, 210ms, 1.1s, 12s, 4m12s.
func (b *brush) millis(ms float64) string {
	switch {
	case ms < 0 || math.IsNaN(ms) || math.IsInf(ms, 0):
		return b.g.unknown
	case ms < 999.5:
		return strconv.FormatFloat(ms, 'f', 0, 64) + "ms"
	case ms < 9950:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + "s"
	}
	return b.seconds(math.Round(ms / 1000))
}

// seconds writes a time in at most five cells: 12s, 4m12s, 58m, 3h04m, 12d.
func (b *brush) seconds(s float64) string {
	switch {
	case s < 0 || math.IsNaN(s) || math.IsInf(s, 0):
		return b.g.unknown
	case s >= 10_000*86400:
		return ">9y"
	}
	n := int64(s)
	switch {
	case n < 60:
		return fmt.Sprintf("%ds", n)
	case n < 600:
		return fmt.Sprintf("%dm%02ds", n/60, n%60)
	case n < 3600:
		return fmt.Sprintf("%dm", n/60)
	case n < 10*3600:
		return fmt.Sprintf("%dh%02dm", n/3600, n/60%60)
	case n < 86400:
		return fmt.Sprintf("%dh", n/3600)
	case n < 10*86400:
		return fmt.Sprintf("%dd%02dh", n/86400, n/3600%24)
	}
	return fmt.Sprintf("%dd", n/86400)
}

// ago writes how long ago t was: "now" within a second, unknown for zero.
func (b *brush) ago(t time.Time) string {
	if t.IsZero() || b.now.IsZero() {
		return b.g.unknown
	}
	d := b.now.Sub(t).Seconds()
	if d < 1 {
		return "now"
	}
	return b.seconds(d)
}

// since returns the seconds since t, -1 for the zero time.
func (b *brush) since(t time.Time) float64 {
	if t.IsZero() || b.now.IsZero() {
		return -1
	}
	return max(b.now.Sub(t).Seconds(), 0)
}

// plural writes n with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
