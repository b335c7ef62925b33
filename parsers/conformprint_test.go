package parsers

import (
	"encoding/json"
	"fmt"
	"strings"
)

// spoken is a turn as a model means it.
type spoken struct {
	reasoning, before, after string
	calls                    []spokenCall
}

type spokenCall struct {
	name string
	args []given
}

// say is a turn as a family writes it.
func (s *Spec) say(t spoken) string {
	if s.Frame != nil {
		return s.sayMessages(t)
	}
	text := ""
	if t.reasoning != "" {
		r := s.Reasoning
		text = r.Open.usual() + "\n" + t.reasoning + "\n" + r.Close.usual() + "\n\n"
	}
	text += t.before
	if len(t.calls) > 0 {
		text += s.sayCalls(t.calls)
	}
	return text + t.after
}

// sayCalls is the section of a turn's calls.
func (s *Spec) sayCalls(calls []spokenCall) string {
	var list []string
	for _, c := range calls {
		list = append(list, s.sayCall(c))
	}
	open, end := s.Section.Open.usual(), s.Section.Close.usual()
	switch s.Grammar {
	case Tagged:
		return strings.Join(list, "\n")
	case Pythonic:
		if s.Name == "olmo3" {
			return open + "\n" + strings.Join(list, "\n") + "\n" + end
		}
		return open + "[" + strings.Join(list, ", ") + "]" + end
	case JSONCall:
		open, end = open+s.Call.Open.usual(), s.Call.Close.usual()+end
		if s.Call.Fence {
			open, end = open+"\n```json\n", "\n```"+end
		}
		switch s.JSON.Container {
		case "list":
			return open + "[" + strings.Join(list, ", ") + "]" + end
		case "lines":
			return open + "\n" + strings.Join(list, "\n") + "\n" + end
		}
		return open + strings.Join(list, end+"\n"+open) + end
	}
	return open + strings.Join(list, "") + end
}

// sayCall is one call.
func (s *Spec) sayCall(c spokenCall) string {
	switch s.Grammar {
	case Tagged:
		return (&printer{spec: s, gap: "\n"}).write(c.name, c.args...)
	case JSONCall:
		keys := s.JSON.filled()
		if keys.NameIsKey {
			return fmt.Sprintf("{%s: %s}", quoted(c.name), argsObject(c.args))
		}
		return fmt.Sprintf(`{"%s": %s, "%s": %s}`, keys.Name, quoted(c.name), keys.Args[0], argsObject(c.args))
	case NameJSON:
		name, end := c.name, s.Call.NameEnd.usual()
		if s.Call.ID == "header" {
			name += ":0"
		}
		args, open := argsObject(c.args), strings.ReplaceAll(s.Call.Open.usual(), "{id}", "call7")
		if s.Call.Fence {
			args = "\n```json\n" + args + "\n```"
		}
		return open + s.Call.Prefix + name + strings.ReplaceAll(end, "{id}", "abcdefghi") + args + s.Call.Close.usual()
	case Pythonic:
		var args []string
		for _, a := range c.args {
			args = append(args, a.key+"="+python3(a.value))
		}
		return c.name + "(" + strings.Join(args, ", ") + ")"
	}
	return s.Call.Open.usual() + s.Call.Prefix + c.name + pseudoJSON(asMap(c.args), s.Values.Quote) + s.Call.Close.usual()
}

// sayMessages is a turn of a family with message headers.
func (s *Spec) sayMessages(t spoken) string {
	f := s.Frame
	var messages []string
	add := func(to, kind, body string) {
		switch {
		case s.Name == "functionary32":
			messages = append(messages, to+"\n"+body)
			return
		case s.Name == "inkling":
			messages = append(messages, "<|content_"+kind+"|>"+body)
		case f.Channel == "":
			messages = append(messages, " to="+to+f.Body.usual()+body)
		case to == "":
			messages = append(messages, f.Channel+kind+f.Body.usual()+body)
		default:
			messages = append(messages, " to="+s.Call.Prefix+to+f.Channel+"commentary json"+f.Body.usual()+body)
		}
	}
	kinds := map[string][2][2]string{
		"harmony": {{"", "analysis"}, {"", "final"}}, "beam": {{"", "analysis"}, {"", "final"}}, "muse": {{"self"}, {"user"}},
		"functionary32": {{}, {"all"}}, "inkling": {{"", "thinking"}, {"", "text"}},
	}[s.Name]
	words := func(i int, text string) {
		if text != "" {
			add(kinds[i][0], kinds[i][1], text)
		}
	}
	words(0, t.reasoning)
	words(1, t.before)
	for _, c := range t.calls {
		switch {
		case s.Name == "inkling":
			add("", "invoke_tool_json", fmt.Sprintf(`{"name": %s, "args": %s}`, quoted(c.name), argsObject(c.args)))
		case f.Content == Tagged:
			add(c.name, "", s.sayTags(c))
		default:
			add(c.name, "", argsObject(c.args))
		}
	}
	words(1, t.after)
	open := f.Open.usual()
	if len(f.End) > 0 && s.Name != "inkling" {
		open += "assistant"
	}
	return strings.Join(messages, f.End.usual()+open) + f.End.usual()
}

// sayTags is the body of a tagged call in a message.
func (s *Spec) sayTags(c spokenCall) string {
	g := &printer{spec: s, gap: "\n"}
	if len(s.Call.Open) > 0 {
		return g.write(c.name, c.args...)
	}
	var args []string
	for _, a := range c.args {
		args = append(args, g.arg(a.key, a.value))
	}
	return strings.Join(args, "\n")
}

// tail is the end of a prompt behind which the family's turns begin.
func (s *Spec) tail() string {
	switch {
	case s.Frame != nil && len(s.Frame.End) > 0 && s.Name != "inkling":
		return s.Frame.Open.usual() + "assistant"
	case s.Frame != nil:
		return s.Frame.Open.usual()
	}
	return "<|assistant|>"
}

func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// object is arguments as a JSON object.
func argsObject(args []given) string {
	var list []string
	for _, a := range args {
		v := quoted(fmt.Sprint(a.value))
		if _, text := a.value.(string); !text {
			b, _ := json.Marshal(a.value)
			v = string(b)
		}
		list = append(list, quoted(a.key)+": "+v)
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func asMap(args []given) map[string]any {
	m := map[string]any{}
	for _, a := range args {
		m[a.key] = a.value
	}
	return m
}

// python3 is a literal of Python.
func python3(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return strings.ToUpper(fmt.Sprint(v)[:1]) + fmt.Sprint(v)[1:]
	case string:
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(v) + "'"
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, python3(item))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case map[string]any:
		var list []string
		for k, item := range v {
			list = append(list, python3(k)+": "+python3(item))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// pseudoJSON is a value with strings between delimiters.
func pseudoJSON(v any, quote string) string {
	switch v := v.(type) {
	case string:
		return quote + v + quote
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, pseudoJSON(item, quote))
		}
		return "[" + strings.Join(list, ",") + "]"
	case map[string]any:
		var list []string
		for k, item := range v {
			list = append(list, k+":"+pseudoJSON(item, quote))
		}
		return "{" + strings.Join(list, ",") + "}"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}
