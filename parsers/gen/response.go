package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// response is the response_template of a tokenizer_config.json: the fields of
// a message, and what each stands between in an answer.
// https://huggingface.co/docs/transformers/main/chat_response_parsing
type response struct {
	Fields map[string]struct {
		Open         literals        `json:"open"`
		Close        literals        `json:"close"`
		OpenPattern  string          `json:"open_pattern"`
		ClosePattern string          `json:"close_pattern"`
		Repeats      bool            `json:"repeats"`
		Content      string          `json:"content"`
		Args         responseArgs    `json:"content_args"`
		Transform    json.RawMessage `json:"transform"`
		Each         bool            `json:"transform_each"`
	} `json:"fields"`
}

type responseArgs struct {
	Unquoted bool        `json:"unquoted_keys"`
	Delims   [][2]string `json:"string_delims"`
	Tag      string      `json:"tag_pattern"`
}

// literals are one text or several.
type literals []string

// UnmarshalJSON reads a text or a list of texts.
func (l *literals) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = literals{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// FromResponse makes a spec of a response_template. The error tells what of it
// no spec can say.
func FromResponse(name string, data []byte) (*parsers.Spec, error) {
	var r response
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("it is not of the form that is known: %w", err)
	}
	spec := &parsers.Spec{Name: name}
	for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
		f := r.Fields[field]
		open, start, err := sides(f.Open, f.OpenPattern)
		if err != nil {
			return nil, fmt.Errorf("%s opens with %w", field, err)
		}
		shut, _, err := sides(f.Close, f.ClosePattern)
		if err != nil {
			return nil, fmt.Errorf("%s closes with %w", field, err)
		}
		closing := plain(shut)
		switch field {
		case "thinking", "reasoning_content", "reasoning":
			if len(closing) == 0 {
				return nil, fmt.Errorf("%s has no end", field)
			}
			spec.Reasoning = &parsers.Reasoning{Open: plain(open), Close: closing, Always: start, Field: field}
		case "content":
			if len(open) > 0 {
				spec.Absorb = append(append(spec.Absorb, plain(open)...), closing...)
			} else {
				spec.Tokens.Stop = closing
			}
		case "tool_calls":
			spec.Parallel = f.Repeats || f.Each
			switch {
			case f.Content == "json" && f.Args.Unquoted:
				err = delimitedCalls(spec, open, closing, f.Args)
			case f.Content == "json" && holed(open):
				err = namedCalls(spec, open, closing)
			case f.Content == "json":
				err = objectCalls(spec, open, closing, f.Transform, f.Each)
			case f.Content == "xml-inline":
				err = taggedCalls(spec, open, closing, f.Args.Tag)
			default:
				err = fmt.Errorf("content of the kind %q", f.Content)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", field, err)
			}
		default:
			return nil, fmt.Errorf("the field %q", field)
		}
	}
	spec.Absorb = slices.DeleteFunc(spec.Absorb, func(m string) bool { return m == "" })
	return spec, spec.Check()
}

// sides are the ways in which a field opens or closes.
func sides(texts literals, pattern string) (all [][]piece, start bool, err error) {
	for _, s := range texts {
		all = append(all, []piece{{text: s}})
	}
	if pattern == "" {
		return all, false, nil
	}
	for _, way := range ways(pattern) {
		p, at, err := readPattern(way)
		if err != nil {
			return nil, false, err
		}
		if start = start || at; len(p) > 0 {
			all = append(all, p)
		}
	}
	return all, start, nil
}

// plain are the texts of sides, a space for white space, {name} for holes.
func plain(all [][]piece) (m parsers.Marks) {
	for _, side := range all {
		m = append(m, mark(joined(side))...)
	}
	return m
}

func joined(side []piece) string {
	var b strings.Builder
	for _, p := range side {
		switch {
		case p.space:
			b.WriteByte(' ')
		case p.hole != "":
			b.WriteString("{" + p.hole + "}")
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// holed reports whether a name is read by what opens a call.
func holed(open [][]piece) bool {
	return len(open) == 1 && slices.ContainsFunc(open[0], func(p piece) bool { return p.hole == "name" })
}

// around splits what opens a call at its name: what stands before the last
// white space is the section.
func aroundName(open [][]piece) (section, before, behind string, err error) {
	if !holed(open) {
		return "", "", "", errors.New("nothing says where the name is")
	}
	i := slices.IndexFunc(open[0], func(p piece) bool { return p.hole == "name" })
	from := 0
	for j, p := range open[0][:i] {
		if p.space && j < i-1 {
			from = j
		}
	}
	return joined(open[0][:from]), joined(open[0][from:i]), joined(open[0][i+1:]), nil
}

// namedCalls: the name stands before a JSON object.
func namedCalls(spec *parsers.Spec, open [][]piece, closing parsers.Marks) error {
	section, before, behind, err := aroundName(open)
	switch {
	case err != nil:
		return err
	case strings.Contains(before, `"`) || strings.Contains(before, "{"):
		return errors.New("the name is cut out of JSON")
	case strings.Contains(before, "<|channel|>") || strings.Contains(before, "to="):
		return errors.New("calls are messages with headers")
	}
	spec.Grammar = parsers.NameJSON
	spec.Section.Open = mark(section)
	before, spec.Call.Prefix = prefixed(strings.TrimSpace(before))
	spec.Call.Open, spec.Call.NameEnd, spec.Call.Close = mark(before), mark(behind), closing
	return nil
}

// objectCalls: one JSON value holds name and arguments.
func objectCalls(spec *parsers.Spec, open [][]piece, closing parsers.Marks, transform json.RawMessage, each bool) error {
	spec.Grammar, spec.JSON.Name, spec.JSON.Args = parsers.JSONCall, "name", parsers.Marks{"arguments"}
	if spec.JSON.Container = "object"; each {
		spec.JSON.Container = "list"
	}
	var t struct {
		Function json.RawMessage `json:"function"`
	}
	var keys struct{ Name, Arguments string }
	if len(transform) > 0 && json.Unmarshal(transform, &t) != nil {
		return fmt.Errorf("the transformation %s", clip(string(transform)))
	}
	var whole string
	switch {
	case len(t.Function) == 0 || json.Unmarshal(t.Function, &whole) == nil:
	case json.Unmarshal(t.Function, &keys) == nil && keys.Name != "" && keys.Arguments != "":
		key := func(s string) string { return strings.TrimPrefix(strings.Trim(s, "{}"), "content.") }
		spec.JSON.Name, spec.JSON.Args = key(keys.Name), parsers.Marks{key(keys.Arguments)}
	default:
		return fmt.Errorf("the transformation %s", clip(string(transform)))
	}
	if slices.ContainsFunc(open, func(side []piece) bool { return strings.Contains(joined(side), "<|content_") }) {
		return errors.New("calls are messages with headers")
	}
	pair := parsers.Pair{Open: plain(open), Close: closing}
	if each {
		spec.Section = pair
	} else {
		spec.Call.Open, spec.Call.Close = pair.Open, pair.Close
	}
	return nil
}

// delimitedCalls: bare keys, strings between delimiters.
func delimitedCalls(spec *parsers.Spec, open [][]piece, closing parsers.Marks, args responseArgs) error {
	_, before, _, err := aroundName(open)
	if err != nil {
		return err
	}
	if len(args.Delims) != 1 || args.Delims[0][0] != args.Delims[0][1] {
		return errors.New("strings between more than one delimiter")
	}
	spec.Grammar, spec.Values.String, spec.Values.Quote = parsers.PseudoJSON, "delimited", args.Delims[0][0]
	before, spec.Call.Prefix = prefixed(strings.TrimSpace(before))
	spec.Call.Open, spec.Call.Close = mark(before), closing
	return nil
}

// taggedCalls: each argument stands between tags.
func taggedCalls(spec *parsers.Spec, open [][]piece, closing parsers.Marks, tag string) error {
	section, before, behind, err := aroundName(open)
	if err != nil {
		return err
	}
	p, _, err := readPattern(tag)
	if err != nil {
		return err
	}
	key := slices.IndexFunc(p, func(p piece) bool { return p.hole == "key" })
	value := slices.IndexFunc(p, func(p piece) bool { return p.hole == "value" })
	if key < 0 || value < key {
		return errors.New("no key before the value of an argument")
	}
	spec.Grammar, spec.Values.String, spec.Values.Scalar, spec.Values.Object = parsers.Tagged, "raw", "json", "json"
	spec.Arg.Open, spec.Arg.Mid, spec.Arg.Close = mark(joined(p[:key])), mark(squeeze(joined(p[key+1:value]))), mark(joined(p[value+1:]))
	spec.Arg.Newline = value > 0 && p[value-1].space
	spec.Call.Open, spec.Call.NameEnd = mark(before), mark(behind)
	if spec.Section.Open = mark(section); section == "" {
		spec.Call.Close = closing
		return nil
	}
	spec.Section.Close = closing
	if name := strings.Trim(before, "< ="); !strings.ContainsAny(name, " \"<>") {
		spec.Call.Close = parsers.Marks{"</" + name + ">"} // of <function=
	}
	return nil
}
