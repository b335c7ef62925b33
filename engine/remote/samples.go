package remote

import (
	"bytes"
	"math"
	"strconv"
)

// Samples reads a metrics page in Prometheus' form: of the families whose name
// begins with prefix, the sum of all samples, by the name without it. Values
// of several engines behind one page are added up.
func Samples(page []byte, prefix string) map[string]float64 {
	all := map[string]float64{}
	for line := range bytes.Lines(page) {
		rest, ok := bytes.CutPrefix(line, []byte(prefix))
		end := bytes.IndexAny(rest, "{ ")
		if !ok || end < 0 {
			continue
		}
		name := string(rest[:end])
		if close := bytes.LastIndexByte(rest, '}'); close > end {
			end = close + 1
		}
		value, _, _ := bytes.Cut(bytes.TrimSpace(rest[end:]), []byte(" "))
		if v, err := strconv.ParseFloat(string(value), 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			all[name] += v
		}
	}
	return all
}
