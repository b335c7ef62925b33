package gen

import (
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// sample is a value of a type and how encoders write it.
type sample struct {
	key, json string
	raw       string // of a string, as it is
	python    string
	ascii     string // JSON with everything else escaped; "" when that is the same
	kind      string // the JSON type
}

var samples = []sample{
	{key: "kvtext", json: `"qtplainy"`, raw: "qtplainy", python: "'qtplainy'", kind: "string"},
	{key: "kvcode", json: `"qtline <a> \"b\"\nqté & 'c'y"`, raw: "qtline <a> \"b\"\nqté & 'c'y", ascii: `"qtline <a> \"b\"\nqt\u00e9 & 'c'y"`, python: `'qtline <a> "b"\nqté & \'c\'y'`, kind: "string"},
	{key: "kvcount", json: "48151", kind: "integer"},
	{key: "kvratio", json: "0.625", kind: "number"},
	{key: "kvflag", json: "true", python: "True", kind: "boolean"},
	{key: "kvmap", json: `{"kvin": "qtinnery"}`, python: "{'kvin': 'qtinnery'}", kind: "object"},
	{key: "kvlist", json: `["qtfirsty", "qtsecondy"]`, python: "['qtfirsty', 'qtsecondy']", kind: "array"},
}

// encoded is how the template writes one sample.
type encoded struct {
	sample
	mid string // between key and value
	how string // raw, json, ascii, python, "" when it is none of them
	out string // what stands behind the key
}

// encode finds how the template writes values, for tagged calls.
func (t *trial) encode(spec *parsers.Spec, m *manner, f frame) {
	var all []encoded
	for _, s := range samples {
		body, ok := t.body(m, f, one(s.key, s.json))
		i := strings.LastIndex(body, toolOne)
		if !ok || i < 0 {
			continue
		}
		k := strings.Index(body[i:], s.key)
		if k < 0 {
			continue
		}
		e := encoded{sample: s, out: body[i+k+len(s.key):]}
		e.find()
		all = append(all, e)
	}
	v := &spec.Values
	for _, e := range all {
		switch e.kind {
		case "string":
			if strings.Contains(e.out, "<![CDATA[") {
				spec.Arg.CDATA = true
			} else if v.String == "" {
				v.String = e.how
			}
		case "boolean":
			v.Scalar = e.how
		case "object":
			if v.Object = e.how; e.how == "" && strings.Contains(e.out, "kvin") {
				v.Object, spec.Arg.Nested = "nested", true
			}
		case "array":
			if spec.Arg.Nested {
				spec.Arg.Item = itemName(e.out)
			}
		}
	}
	v.Null = t.null(m, f)
	attribute(spec, all)
}

// find looks for the value in what stands behind the key.
func (e *encoded) find() {
	for _, try := range []struct{ how, text string }{
		{"json", e.json}, {"ascii", e.ascii}, {"python", e.python}, {"raw", e.raw},
	} {
		if try.text == "" {
			continue
		}
		if i := strings.Index(e.out, try.text); i >= 0 {
			e.how, e.mid = try.how, e.out[:i]
			return
		}
	}
}

// null is how a null is written.
func (t *trial) null(m *manner, f frame) string {
	body, ok := t.body(m, f, call{toolOne, "{" + quoted(keyOne) + ": null}"})
	i := strings.LastIndex(body, toolOne)
	switch {
	case !ok || i < 0:
		return ""
	case !strings.Contains(body[i:], keyOne):
		return "omitted"
	case strings.Contains(body[i:], "null"):
		return "json"
	case strings.Contains(body[i:], "None"):
		return "python"
	}
	return ""
}

// itemName is the tag around the first item of a list.
func itemName(out string) string {
	before, _, _ := strings.Cut(out, "qtfirsty")
	open := strings.LastIndex(before, "<")
	if open < 0 || !strings.HasSuffix(before, ">") {
		return ""
	}
	return before[open+1 : len(before)-1]
}

// attribute finds a type that is written beside the key.
func attribute(spec *parsers.Spec, all []encoded) {
	var words []string
	var text string
	for _, e := range all {
		if e.how == "" {
			continue
		}
		mid := strings.TrimSpace(e.mid)
		if text == "" {
			text = mid
		}
		a, b := common(text, mid), commonEnd(text, mid)
		if mid == text || a+b > min(len(text), len(mid)) {
			continue
		}
		a, b = quotes(text, a, b)
		if len(words) == 0 {
			words = append(words, text[a:len(text)-b])
			spec.Arg.Mid = parsers.Marks{squeeze(text[:a] + "{type}" + text[len(text)-b:])}
		}
		words = append(words, mid[a:len(mid)-b])
	}
	if len(words) == 0 {
		return
	}
	for _, w := range words {
		if w != "true" && w != "false" {
			return
		}
	}
	spec.Arg.Mid[0] = strings.Replace(spec.Arg.Mid[0], "{type}", "{string}", 1)
}

// quotes widens what differs to the quotes around it.
func quotes(text string, a, b int) (int, int) {
	i := strings.LastIndexByte(text[:a], '"')
	j := strings.IndexByte(text[len(text)-b:], '"')
	if i < 0 || j < 0 {
		return a, b
	}
	return i + 1, b - j
}
