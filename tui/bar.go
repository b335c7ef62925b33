package tui

import (
	"math"
	"strings"
)

// bar draws a share of 0 to 1 in n cells. A share above nothing shows at least one cell, a share below all never
// the last one.
func (b *brush) bar(share float64, n int, m meaning) line {
	if share < 0 || math.IsNaN(share) {
		return join(say(b.g.unknown, muted), blank(n-1))
	}
	k := filledCells(share, n)
	return line{{strings.Repeat(b.g.full, k), m}, {strings.Repeat(b.g.empty, n-k), muted}}
}

// twoBars draws two shares of the same whole one after the other.
func (b *brush) twoBars(first, second float64, n int, m meaning) line {
	if first < 0 || math.IsNaN(first) {
		first = 0
	}
	if second < 0 || math.IsNaN(second) {
		second = 0
	}
	k := filledCells(first, n)
	l := min(filledCells(second, n), n-k)
	return line{
		{strings.Repeat(b.g.full, k), m},
		{strings.Repeat(b.g.half, l), info},
		{strings.Repeat(b.g.empty, n-k-l), muted},
	}
}

// filledCells returns how many of n cells a share fills.
func filledCells(share float64, n int) int {
	if n <= 0 || share <= 0 {
		return 0
	}
	if share >= 1 {
		return n
	}
	return min(max(int(math.Round(share*float64(n))), 1), max(n-1, 1))
}

// spark draws the last n values, scaled to their own maximum, the newest at
// the right. What is unknown (less than 0) is a gap. It returns the maximum
// too, -1 when there is none.
func (b *brush) spark(values []float64, n int) (string, float64) {
	if n <= 0 {
		return "", -1
	}
	if len(values) > n {
		values = values[len(values)-n:]
	}
	top := -1.0
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			top = max(top, v)
		}
	}
	var s strings.Builder
	s.WriteString(strings.Repeat(" ", n-len(values)))
	for _, v := range values {
		switch {
		case v < 0 || math.IsNaN(v) || math.IsInf(v, 0):
			s.WriteByte(' ')
		case top <= 0:
			s.WriteString(b.g.sparks[0])
		default:
			i := int(math.Round(v / top * float64(len(b.g.sparks)-1)))
			s.WriteString(b.g.sparks[i])
		}
	}
	return s.String(), top
}
