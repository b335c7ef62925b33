package gen

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// Match is a spec that is there already, and how it fits a template.
type Match struct {
	Spec     *parsers.Spec
	Failed   int      // probes that it does not read back
	Markers  float64  // share of its markers that the template prints or holds
	Differs  []string // fields in which a generated spec is not like it
	Readable int      // probes in all
}

// exact reports whether it reads all probes back.
func (m *Match) exact() bool { return m.Failed == 0 && m.Readable > 0 }

// matches tries the specs of a set on probes: those that read all of them come
// first, then those that fail at the fewest, and of these that with the
// nearest markers.
func matches(set *parsers.Set, derived *parsers.Spec, probes []Probe, source string, proof bool) []Match {
	var all []Match
	text := source
	for _, p := range probes {
		text += p.Text
	}
	for _, spec := range set.Specs() {
		if spec.Grammar == "" && spec.Frame == nil {
			continue // it reads no calls
		}
		m := Match{Spec: spec, Readable: len(probes), Markers: share(spec, text), Differs: Differences(derived, spec)}
		m.Failed = len(failures(spec, probes, true, false))
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Match) int {
		if a.Failed != b.Failed {
			return a.Failed - b.Failed
		}
		if x, y := a.Spec.Bare != derived.Bare, b.Spec.Bare != derived.Bare; x != y {
			return map[bool]int{true: 1, false: -1}[x]
		}
		if derived.Bare { // without markers, keys tell the families apart
			if x, y := keyed(derived, a.Spec), keyed(derived, b.Spec); x != y {
				return map[bool]int{true: -1, false: 1}[x]
			}
		}
		if a.Markers != b.Markers {
			return int((b.Markers - a.Markers) * 1e6)
		}
		if len(a.Differs) != len(b.Differs) {
			return len(a.Differs) - len(b.Differs)
		}
		return usual(derived, b.Spec) - usual(derived, a.Spec)
	})
	if proof && len(all) > 0 && all[0].exact() && len(failures(all[0].Spec, probes, true, true)) > 0 {
		all[0].Failed = 1 // in some split
	}
	return all
}

// keyed reports whether a spec's usual keys and container are those that were
// derived.
func keyed(derived, spec *parsers.Spec) bool {
	usual := func(m parsers.Marks) string {
		if len(m) == 0 {
			return "arguments"
		}
		return m[0]
	}
	list := func(s *parsers.Spec) bool { return s.JSON.Container == "list" }
	return usual(derived.JSON.Args) == usual(spec.JSON.Args) && list(derived) == list(spec)
}

// usual counts the markers of which two specs have the same usual spelling.
func usual(a, b *parsers.Spec) (n int) {
	x, y := around(a), around(b)
	for key, m := range x {
		if len(m) > 0 && len(y[key]) > 0 && m[0] == y[key][0] {
			n++
		}
	}
	return n
}

// nearest is the spec of which a template holds the most markers; nil when it
// holds less than half of any. One that needs no marker is near to everything,
// and does not count.
func nearest(set *parsers.Set, text string) (near *Match) {
	for _, spec := range set.Specs() {
		if spec.Bare || spec.Grammar == "" {
			continue
		}
		if m := (Match{Spec: spec, Markers: share(spec, text)}); m.Markers > 0.5 && (near == nil || m.Markers > near.Markers) {
			near = &m
		}
	}
	return near
}

// share is how many of a spec's markers stand in a text, of those that have to
// be there for a call.
func share(spec *parsers.Spec, text string) float64 {
	n, there := 0, 0
	for _, list := range spec.Markers() {
		if len(list) == 0 {
			continue
		}
		telling := false
		for _, m := range list {
			literal, _, _ := strings.Cut(m, "{")
			if literal = strings.TrimSpace(literal); len(literal) < 4 {
				continue // it stands everywhere
			}
			if telling = true; strings.Contains(text, literal) {
				there++
				break
			}
		}
		if telling {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(there) / float64(n)
}

// Differences are the fields of two specs' call and reasoning parts that are
// not alike: markers of which the first's is no spelling of the second's, and
// other values.
func Differences(a, b *parsers.Spec) (all []string) {
	x, y := around(a), around(b)
	for _, key := range slices.Sorted(maps.Keys(x)) {
		if strings.HasPrefix(key, "tokens.") {
			continue
		}
		if !spelling(x[key], y[key]) {
			all = append(all, fmt.Sprintf("%s: %s, not %s", key, list(x[key]), list(y[key])))
		}
	}
	for _, f := range []struct {
		key  string
		a, b any
	}{
		{"grammar", a.Grammar, b.Grammar},
		{"bare", a.Bare, b.Bare},
		{"call.prefix", a.Call.Prefix, b.Call.Prefix},
		{"call.fence", a.Call.Fence, b.Call.Fence},
		{"arg.newline", a.Arg.Newline, b.Arg.Newline},
		{"arg.nested", a.Arg.Nested, b.Arg.Nested},
		{"arg.cdata", a.Arg.CDATA, b.Arg.CDATA},
		{"json.name_is_key", a.JSON.NameIsKey, b.JSON.NameIsKey},
		{"values.quote", a.Values.Quote, b.Values.Quote},
	} {
		if !reflect.DeepEqual(f.a, f.b) {
			all = append(all, fmt.Sprintf("%s: %v, not %v", f.key, f.a, f.b))
		}
	}
	return all
}

// around are the markers of a spec by key. Of JSON calls a section around one
// call is the call's own marker.
func around(s *parsers.Spec) map[string]parsers.Marks {
	m := maps.Clone(s.Markers())
	if s.Grammar == parsers.JSONCall {
		m["call.open"] = append(slices.Clone(m["call.open"]), m["section.open"]...)
		m["call.close"] = append(slices.Clone(m["call.close"]), m["section.close"]...)
		delete(m, "section.open")
		delete(m, "section.close")
	}
	return m
}

// spelling reports whether all of a are among b.
func spelling(a, b parsers.Marks) bool {
	if len(a) == 0 && len(b) > 0 {
		return false
	}
	for _, m := range a {
		if !slices.ContainsFunc(b, func(n string) bool { return bare(n) == bare(m) }) {
			return false
		}
	}
	return true
}

// bare is a marker without white space.
func bare(m string) string { return strings.Join(strings.Fields(m), "") }

func list(m parsers.Marks) string {
	if len(m) == 0 {
		return "none"
	}
	return "`" + strings.Join(m, "`, `") + "`"
}
