package parsers

import (
	"strings"
	"testing"
)

// TestLimitsOfFormats reads long answers that are made to be slow, in every
// format: the beginnings of calls again and again, whole and in small pieces.
func TestLimitsOfFormats(t *testing.T) {
	const size = 1 << 13
	for _, spec := range Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			section, call := head(spec.Section.Open.usual()), head(spec.Call.Open.usual())
			name := spec.Call.Prefix + "f" + head(spec.Call.NameEnd.usual())
			arg := spec.Arg.Open.usual() + "a" + head(spec.Arg.Mid.usual())
			units := []string{
				section, call, section + call, section + call + name, section + call + name + "{", section + call + name + arg,
				section + "[", section + "{\"name\": \"f\", ", call + "        ", "[f(", "{\"a\": ", "f", "\n", "`", "'", "\"", "<", "[", "{", "(",
				spec.Call.Close.usual(), head(spec.Arg.Close.usual()), call + "f", section + call + name + "{}" + spec.Call.Close.usual(),
			}
			for _, unit := range units {
				if unit == "" {
					continue
				}
				for _, prefix := range []string{"", section + call + name, section + call + name + "{\"a\": \"", section + call + name + arg} {
					text := prefix + strings.Repeat(unit, size/len(unit))
					o := Options{Offered: rowTools}
					if spec.Grammar != "" {
						o.Tools = spec.Name
					}
					if spec.has(Thinking) {
						o.Reasoning = spec.Name
					}
					a := read(t, o, false, text)
					split(t, o, false, a, bursts(text, func() int { return 61 })...)
				}
			}
		})
	}
}
