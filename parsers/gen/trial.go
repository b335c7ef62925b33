package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/agentinfer/dyn/prompt/jinja"
)

// Words of probes. None is a word of a language, none a part of another, and
// no two begin or end alike, so that what two renderings have in common is
// never a piece of them.
const (
	wordUser   = "zquserk"
	wordUser2  = "jbnextw"
	wordText   = "pwsayim"
	wordThink  = "vqthinkz"
	wordResult = "kdresulp"
	wordOne    = "gsomberh" // a value
	wordTwo    = "widletq"
)

// The tools of probes and their keys.
const (
	toolOne = "zqfalder"
	toolTwo = "bkvnoted"
	keyOne  = "hjwcity"
	keyTwo  = "mxdrule"
	idOne   = "a1B2c3D4e" // nine letters and digits, which Mistral's templates insist on
	idTwo   = "x9Y8z7W6v"
)

// limits of one rendering and of all that are made of one template.
const (
	renderTime = 500 * time.Millisecond
	renderSize = 1 << 20
	allTime    = 4 * time.Second
)

// message is one of a conversation, as Hugging Face templates read it.
type message = map[string]any

// call is a call of a probe.
type call struct {
	name string
	args string // a JSON object
}

// variable is a value that a template reads beside the conversation.
type variable struct {
	name  string
	value any
}

// trial renders probes with one template.
type trial struct {
	jinja   *jinja.Template
	tamed   bool            // it changes lists, and was given assignments in place of that
	fixed   []variable      // tokens, and what a template cannot do without
	tools   json.RawMessage // in the form that the template takes; nil is none
	parts   bool            // it wants the content of messages as a list of parts
	renders int
	spent   time.Duration // on renderings
	err     error         // a limit was met; nothing is tried any more
	refused error         // what the template raised last
}

func newTrial(source string, fixed []variable) (*trial, error) {
	t := &trial{fixed: fixed, tools: toolForms()[0]}
	tamed, changed := assigned(source)
	if t.tamed = changed; changed {
		source = tamed
	}
	var err error
	if t.jinja, err = jinja.Parse(source); err != nil {
		return nil, fmt.Errorf("parse the template: %w", err)
	}
	return t, nil
}

// assigned writes changes of lists as assignments, which mean the same here.
// The sandbox of Hugging Face forbids the former, and so do we; llama.cpp runs
// them, and templates are published that need them.
func assigned(source string) (string, bool) {
	s := appended.ReplaceAllString(source, "{%$1 set $2 = $2 + [$3] $4%}")
	s = popped.ReplaceAllString(s, "{%$1 set $2 = $3[0] %}{% set $3 = $3[1:] $4%}")
	return s, s != source
}

var (
	appended = regexp.MustCompile(`\{%(-?)\s*(?:set \w+ = |do )([\w.]+)\.append\(([^%]*)\)\s*(-?)%\}`)
	popped   = regexp.MustCompile(`\{%(-?)\s*set (\w+) = ([\w.]+)\.pop\(0\)\s*(-?)%\}`)
)

// asks reports whether the template reads a name.
func (t *trial) asks(name string) bool {
	for _, n := range t.jinja.Names() {
		if n == name {
			return true
		}
	}
	return false
}

// render is what the template prints for messages; ok is false when it
// raises, or a limit is met.
func (t *trial) render(ms []message, tools, generate bool, vars []variable) (text string, ok bool) {
	if t.err != nil {
		return "", false
	}
	if t.spent > allTime {
		t.err = fmt.Errorf("%d renderings of small conversations took more than %v: %w", t.renders, allTime, jinja.ErrLimit)
		return "", false
	}
	ctx := new(jinja.Map)
	set := func(name string, v any) {
		if value, ok := v.(jinja.Value); ok {
			ctx.Set(name, value)
			return
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.err = err
			return
		}
		value, err := jinja.Decode(data)
		if err != nil {
			t.err = err
			return
		}
		ctx.Set(name, value)
	}
	for _, v := range t.fixed {
		set(v.name, v.value)
	}
	if t.parts {
		ms = inParts(ms)
	}
	set("messages", ms)
	if tools && t.tools != nil {
		set("tools", t.tools)
	}
	if generate {
		set("add_generation_prompt", true)
	} else {
		set("add_generation_prompt", false)
	}
	for _, v := range vars {
		set(v.name, v.value)
	}
	if t.err != nil {
		return "", false
	}
	t.renders++
	began := time.Now()
	defer func() { t.spent += time.Since(began) }()
	out, err := t.jinja.Render(nil, jinja.Mapping(ctx), jinja.Options{
		Steps: 2_000_000, Bytes: 64 << 20, Output: renderSize, Time: renderTime,
		Now: func() time.Time { return time.Date(2025, 6, 5, 13, 4, 9, 0, time.UTC) },
	})
	if errors.Is(err, jinja.ErrLimit) {
		t.err = fmt.Errorf("render a conversation of a few words: %w", err)
	}
	t.refused = err
	return string(out), err == nil
}

// inParts writes the text of messages as lists of one part.
func inParts(ms []message) []message {
	all := make([]message, len(ms))
	for i, m := range ms {
		if s, ok := m["content"].(string); ok {
			m = maps.Clone(m)
			m["content"] = []message{{"type": "text", "text": s}}
		}
		all[i] = m
	}
	return all
}

// wantsParts reports whether only content in parts is printed.
func (t *trial) wantsParts() bool {
	for _, t.parts = range []bool{false, true} {
		if out, _ := t.render([]message{user(wordUser)}, false, false, nil); strings.Contains(out, wordUser) {
			return t.parts
		}
	}
	return false
}

// user is a user's message.
func user(text string) message { return message{"role": "user", "content": text} }

// toolKeys are the keys of both tools and their types, in the order of the
// schema.
var toolKeys = []struct{ key, schema string }{
	{keyOne, `{"type":"string","description":"d"}`},
	{keyTwo, `{"type":"string","description":"d"}`},
	{"kvtext", `{"type":"string","description":"d"}`},
	{"kvcode", `{"type":"string","description":"d"}`},
	{"kvmark", `{"type":"string","description":"d"}`},
	{"kvcount", `{"type":"integer","description":"d"}`},
	{"kvratio", `{"type":"number","description":"d"}`},
	{"kvflag", `{"type":"boolean","description":"d"}`},
	{"kvmap", `{"type":"object","description":"d","properties":{"kvin":{"type":"string","description":"d"},"kvdeep":{"type":"object","description":"d","properties":{"kvnum":{"type":"integer","description":"d"}}}}}`},
	{"kvlist", `{"type":"array","description":"d","items":{"type":"string","description":"d"}}`},
	{"kvrows", `{"type":"array","description":"d","items":{"type":"object","description":"d","properties":{"kvin":{"type":"string","description":"d"}}}}`},
}

// schemaJSON is the schema of either tool.
var schemaJSON = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i, k := range toolKeys {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", k.key, k.schema)
	}
	fmt.Fprintf(&b, `},"required":[%q]}`, keyOne)
	return b.String()
})

// toolForms are the tools in the forms that templates take: OpenAI's, bare
// functions, and none at all.
func toolForms() []json.RawMessage {
	list := func(form string) json.RawMessage {
		one, two := fmt.Sprintf(form, toolOne, schemaJSON()), fmt.Sprintf(form, toolTwo, schemaJSON())
		return json.RawMessage("[" + one + "," + two + "]")
	}
	return []json.RawMessage{
		list(`{"type":"function","function":{"name":%q,"description":"d","parameters":%s}}`),
		list(`{"name":%q,"description":"d","parameters":%s}`),
		nil,
	}
}

// tail is what follows the last mention of a word; "" when there is none.
func tail(text, word string) string {
	i := strings.LastIndex(text, word)
	if i < 0 {
		return ""
	}
	return text[i+len(word):]
}
