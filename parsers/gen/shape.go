package gen

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// bodies are what the template prints for the calls that shapes are read from.
type bodies struct {
	m      *manner
	single string   // one call with one argument
	double string   // two calls with one argument each; "" when it prints no two
	wide   string   // one call with two arguments
	ends   []string // tags behind a call that close nothing: they end the turn
}

// look renders the bodies.
func (t *trial) look(m *manner, f frame) bodies {
	first, second := one(keyOne, quoted(wordOne)), call{toolTwo, "{" + quoted(keyTwo) + ": " + quoted(wordTwo) + "}"}
	b := bodies{m: m}
	b.single, _ = t.body(m, f, first)
	if s, ok := t.body(m, f, first, second); ok && holds(s, toolOne, wordOne, toolTwo, wordTwo) {
		b.double = s
	}
	b.wide, _ = t.body(m, f, call{toolOne, "{" + quoted(keyOne) + ": " + quoted(wordOne) + ", " + quoted(keyTwo) + ": " + quoted(wordTwo) + "}"})
	return b
}

// holds reports whether all the words stand in a text.
func holds(s string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// inOrder reports whether the words stand in a text one behind the other.
func inOrder(s string, words ...string) bool {
	for _, w := range words {
		i := strings.Index(s, w)
		if i < 0 {
			return false
		}
		s = s[i+len(w):]
	}
	return true
}

// shape derives the call part of a spec; false when the bodies have no shape
// that is known.
func (b *bodies) shape(spec *parsers.Spec, f frame) bool {
	spec.Parallel = b.double != ""
	if !holds(b.single, toolOne, wordOne) {
		return false
	}
	value := strings.Index(b.single, wordOne)
	name := strings.LastIndex(b.single[:value], toolOne)
	if name < 0 {
		name = strings.Index(b.single, toolOne)
	}
	if v, ok := enclosing(b.single, name); ok {
		if _, ok := path(v.value, wordOne); ok {
			return b.jsonCall(spec, v)
		}
	}
	if open := strings.Index(b.single[name:], "{"); open >= 0 {
		if v, ok := decode(b.single, name+open); ok {
			if _, ok := path(v.value, wordOne); ok {
				return b.nameJSON(spec, name, v)
			}
		}
	}
	behind := b.single[name+len(toolOne):]
	if strings.HasPrefix(behind, "(") {
		return b.pythonic(spec, name)
	}
	key := strings.Index(behind, keyOne)
	if key < 0 {
		return false
	}
	before, mid := strings.TrimSpace(behind[:key]), behind[key+len(keyOne):strings.Index(behind, wordOne)]
	if before == "{" && strings.HasPrefix(strings.TrimSpace(mid), ":") {
		return b.pseudoJSON(spec, name, mid)
	}
	return b.tagged(spec, name, f)
}

// jsonCall: the name is in a JSON value.
func (b *bodies) jsonCall(spec *parsers.Spec, f found) bool {
	name, _ := path(f.value, toolOne)
	args, _ := path(f.value, wordOne)
	spec.Grammar = parsers.JSONCall
	spec.Values.String, spec.Values.Object = "json", "json"
	if f.python {
		spec.Values.String, spec.Values.Object = "python", "python"
	}
	args = slices.DeleteFunc(args[:len(args)-1], func(step string) bool { return step == asText })
	switch {
	case len(name) == 1 && name[0] == asKey:
		spec.JSON.NameIsKey = true
	case len(name) == 0 || len(args) == 0:
		return false
	default:
		spec.JSON.Name = name[len(name)-1]
		spec.JSON.Args = parsers.Marks{args[len(args)-1]}
	}
	if id, ok := path(f.value, idOne); ok && len(id) > 0 {
		spec.JSON.ID = id[len(id)-1]
	}
	spec.JSON.Container = "object"
	if _, list := f.value.([]any); list {
		spec.JSON.Container = "list"
	} else if b.double != "" && spec.JSON.Container == "object" {
		b.lines(spec)
	}
	wrap := parsers.Pair{Open: mark(b.single[:f.at]), Close: mark(b.single[f.end:])}
	if open, fenced := fence(wrap.Open); fenced && len(open) > 0 {
		spec.Call.Open, spec.Call.Fence = open, true
		return true
	}
	if spec.JSON.Container == "object" {
		spec.Call.Open, spec.Call.Close = wrap.Open, wrap.Close
	} else {
		spec.Section = wrap
	}
	spec.Bare = len(wrap.Open) == 0
	return true
}

// fence takes the beginning of a Markdown fence off a marker.
func fence(m parsers.Marks) (parsers.Marks, bool) {
	if len(m) == 0 {
		return nil, false
	}
	before, fenced := strings.CutSuffix(strings.TrimSuffix(m[0], "json"), "```")
	return mark(before), fenced
}

// lines sees whether two objects stand in one section.
func (b *bodies) lines(spec *parsers.Spec) {
	first, ok1 := enclosing(b.double, strings.Index(b.double, toolOne))
	second, ok2 := enclosing(b.double, strings.Index(b.double, toolTwo))
	if ok1 && ok2 && first.end <= second.at && strings.Trim(b.double[first.end:second.at], " \t\r\n,;") == "" {
		spec.JSON.Container = "lines"
	}
}

// nameJSON: the name stands before a JSON object.
func (b *bodies) nameJSON(spec *parsers.Spec, name int, f found) bool {
	spec.Grammar = parsers.NameJSON
	spec.Values.String, spec.Values.Object = "json", "json"
	before, mid, end := b.single[:name], b.single[name+len(toolOne):f.at], b.single[f.end:]
	if b.m.ids != "" { // the id holds the name
		spec.Call.ID = "header"
	}
	open, section := before, ""
	shut, sectionEnd := end, ""
	if b.double != "" {
		n2 := strings.Index(b.double, toolTwo)
		if g, ok := decode(b.double, strings.Index(b.double[strings.Index(b.double, toolOne):], "{")+strings.Index(b.double, toolOne)); ok && g.end <= n2 {
			between := strings.ReplaceAll(b.double[g.end:n2], idTwo, idOne)
			k := fromTag(before[len(before)-commonEnd(before, between):])
			if n := numbered(before, between); len(n.open) > len(k) {
				before, between, k = n.before, n.between, n.open
			}
			open, section = k, before[:len(before)-len(k)]
			rest := between[:len(between)-len(k)]
			shut = wholeTags(end[:common(rest, end)], end)
			sectionEnd = end[len(shut):]
			if strings.TrimSpace(sectionEnd) == "" { // printed behind several calls only
				if g, ok := decode(b.double, n2+max(0, strings.Index(b.double[n2:], "{"))); ok {
					sectionEnd = strings.TrimPrefix(b.double[g.end:], shut)
				}
			}
		}
	}
	mid = strings.ReplaceAll(mid, idOne, "{id}")
	open = strings.ReplaceAll(open, idOne, "{id}")
	mid = b.counted(mid)
	if inner, fenced := strings.CutSuffix(strings.TrimRight(mid, " \r\n"), "```json"); fenced {
		spec.Call.Fence = true
		mid = inner
		shut = strings.TrimPrefix(strings.TrimSpace(shut), "```")
	}
	open, spec.Call.Prefix = prefixed(open)
	if rest, counts := strings.CutPrefix(mid, ":{index}"); counts && spec.Call.Prefix != "" {
		spec.Call.ID, mid = "header", rest // functions.name:0 is the id
	}
	spec.Section = parsers.Pair{Open: mark(section), Close: mark(sectionEnd)}
	spec.Call.Open, spec.Call.NameEnd, spec.Call.Close = mark(open), mark(mid), mark(shut)
	return true
}

// counter is what stands before a name where a number in it counts calls.
type counter struct{ before, between, open string }

// numbered puts {index} in place of numbers, and {id} in place of ids.
func numbered(before, between string) (c counter) {
	general := func(s string) string {
		return digits.ReplaceAllString(strings.ReplaceAll(s, idOne, "{id}"), "{index}")
	}
	c.before, c.between = general(before), general(between)
	c.open = fromTag(c.before[len(c.before)-commonEnd(c.before, c.between):])
	if !strings.Contains(c.open, "{index}") {
		c.open = ""
	}
	return c
}

// prefixed splits off a word that stands between the last marker and the name.
func prefixed(open string) (marker, prefix string) {
	i := strings.LastIndexAny(open, ">]}|") + 1
	if word := open[i:]; word != "" && i > 0 && strings.TrimSpace(word) == word && !strings.ContainsAny(word, "\"'=<") {
		return open[:i], word
	}
	return open, ""
}

var digits = regexp.MustCompile(`\d+`)

// counted puts {index} where the text behind a name differs by a number only.
func (b *bodies) counted(behind string) string {
	if b.double == "" || !digits.MatchString(behind) {
		return behind
	}
	rest := b.double[strings.Index(b.double, toolTwo)+len(toolTwo):]
	if strings.HasPrefix(rest, behind) {
		return behind
	}
	general := digits.ReplaceAllString(behind, "\x00")
	other := digits.ReplaceAllString(rest, "\x00")
	if strings.HasPrefix(other, general) {
		return strings.ReplaceAll(general, "\x00", "{index}")
	}
	return behind
}

// pythonic: a call as in Python.
func (b *bodies) pythonic(spec *parsers.Spec, name int) bool {
	spec.Grammar = parsers.Pythonic
	before := strings.TrimSuffix(strings.TrimSpace(b.single[:name]), "[")
	end := b.single[strings.LastIndex(b.single, ")")+1:]
	spec.Section = parsers.Pair{Open: mark(before), Close: mark(strings.TrimPrefix(strings.TrimSpace(end), "]"))}
	spec.Bare = len(spec.Section.Open) == 0
	spec.Values.String = "python"
	return true
}

// pseudoJSON: bare keys, strings between delimiters.
func (b *bodies) pseudoJSON(spec *parsers.Spec, name int, mid string) bool {
	spec.Grammar = parsers.PseudoJSON
	spec.Values.Quote = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(mid), ":"))
	spec.Values.String = "delimited"
	behind := b.single[strings.LastIndex(b.single, wordOne)+len(wordOne):]
	_, end, _ := strings.Cut(behind, "}")
	open, shut := b.single[:name], end
	if b.double != "" {
		first := b.double[strings.Index(b.double, wordOne)+len(wordOne) : strings.Index(b.double, toolTwo)]
		if _, between, ok := strings.Cut(first, "}"); ok {
			open = fromTag(open[len(open)-commonEnd(open, between):])
			rest := between[:len(between)-len(open)]
			if n := common(rest, end); n > 0 {
				shut = wholeTags(end[:n], end)
			}
		}
	}
	open, spec.Call.Prefix = prefixed(open)
	spec.Call.Open, spec.Call.NameEnd, spec.Call.Close = mark(open), parsers.Marks{"{"}, mark(shut)
	b.ends = tags(strings.TrimPrefix(end, shut))
	return spec.Values.Quote != ""
}

// mark is a marker without the white space around it.
func mark(s string) parsers.Marks {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return parsers.Marks{s}
}
