package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// Words that no template has of its own, none a part of another.
const (
	wordUser   = "jqkestrel"
	wordUser2  = "jqwalnut"
	wordSystem = "jqcobalt"
	wordMore   = "jqthistle"
	wordText   = "jqember"
	wordText2  = "jqmarble"
	wordResult = "jqquartz"
	wordTool   = "jqlantern"
	wordTool2  = "jqorchid"
	wordKey    = "jqpepper"
	wordValue  = "jqsaddle"
	wordThink  = "jqvelvet"
	wordEffort = "jqwindow"
	callID     = "call_00001abc"
)

// trial tries a template on small conversations.
type trial struct {
	f   *form
	err error // a limit was met; nothing is tried any more

	memo   jinja.Memo // of the last rendering, for its spans
	listed bool       // a list of tools is taken at all
}

// object is a JSON object of a conversation.
type object = map[string]any

// probe finds the facts. The error is that of a template which takes too much
// for a conversation of a few words.
func (f *form) probe() error {
	t := &trial{f: f}
	f.parts = map[turn.Role]bool{}
	f.afterTool = true
	for _, step := range []func(*trial){
		(*trial).lists, (*trial).contents, (*trial).systems, (*trial).flags, (*trial).calls,
		(*trial).rows, (*trial).reasoning, (*trial).efforts, (*trial).ends,
	} {
		if step(t); t.err != nil {
			return fmt.Errorf("on a conversation of a few words: %w", t.err)
		}
	}
	return nil
}

// options of a trial: a small part of what a turn may take.
func trialOptions() jinja.Options {
	return jinja.Options{
		Steps: 5_000_000, Bytes: 64 << 20, Output: 4 << 20, Time: 10 * time.Second,
		Now: func() time.Time { return time.Date(2025, 6, 5, 13, 4, 9, 0, time.UTC) },
	}
}

// render is what the template prints for messages; ok is false when it
// raises. More variables come in pairs of name and value.
func (t *trial) render(ms []object, more ...any) (text string, ok bool) {
	if t.err != nil {
		return "", false
	}
	ctx := new(jinja.Map)
	for _, v := range t.f.fixed {
		ctx.Set(v.name, v.value)
	}
	for i := 0; i+1 < len(more); i += 2 {
		if v, isValue := more[i+1].(jinja.Value); isValue {
			ctx.Set(more[i].(string), v)
			continue
		}
		v, err := valueOf(more[i+1])
		if err != nil {
			t.err = err
			return "", false
		}
		ctx.Set(more[i].(string), v)
	}
	v, err := messageValues(ms)
	if err != nil {
		t.err = err
		return "", false
	}
	ctx.Set("messages", v)
	t.memo = jinja.Memo{}
	out, _, err := t.f.jinja.RenderMemo(nil, jinja.Mapping(ctx), trialOptions(), &t.memo)
	if errors.Is(err, jinja.ErrLimit) {
		t.err = err
	}
	return string(out), err == nil
}

// messageValues are messages as values.
func messageValues(ms []object) (jinja.Value, error) {
	if ms == nil {
		ms = []object{}
	}
	data, err := json.Marshal(ms)
	if err != nil {
		return jinja.Value{}, err
	}
	return jinja.Decode(data)
}

// prints reports whether the template prints the words in their order for
// the messages.
func (t *trial) prints(ms []object, words ...string) bool {
	text, ok := t.render(ms, t.generate()...)
	return ok && inOrder(text, words...)
}

// generate are the variables of a rendering to be answered, with a tool
// where the template takes some.
func (t *trial) generate() []any { return t.listing(wordTool) }

func (t *trial) listing(name string) []any {
	more := []any{"add_generation_prompt", true}
	if t.listed {
		more = append(more, "tools", []object{t.tool(name, "a tool")})
	}
	return more
}

// lists finds whether a list of tools is taken, and in what form: the one
// that is printed.
func (t *trial) lists() {
	try := func(bare bool) (taken, printed bool) {
		t.f.bare, t.listed = bare, true
		for _, content := range []any{wordUser, []object{{"type": "text", "text": wordUser}}} {
			text, ok := t.render([]object{{"role": "user", "content": content}}, t.generate()...)
			taken, printed = taken || ok, printed || ok && strings.Contains(text, wordTool)
		}
		return taken, printed
	}
	if _, printed := try(true); printed {
		if _, wrapped := try(false); !wrapped {
			t.f.bare = true
		}
		return
	}
	t.listed, _ = try(false)
}

// inOrder reports whether words stand in a text one after another.
func inOrder(text string, words ...string) bool {
	for _, w := range words {
		i := strings.Index(text, w)
		if i < 0 {
			return false
		}
		text = text[i+len(w):]
	}
	return true
}

// say is a message with text, in the form that the template reads.
func (t *trial) say(role turn.Role, text string) object {
	if t.f.parts[role] {
		return object{"role": string(role), "content": []object{{"type": "text", "text": text}}}
	}
	return object{"role": string(role), "content": text}
}

// with is a message with more fields.
func with(m object, name string, value any) object {
	m[name] = value
	return m
}

// tool is a tool of one parameter in the form that was found; an empty
// description is left out.
func (t *trial) tool(name, description string) object {
	fn := object{
		"name": name,
		"parameters": object{
			"type": "object", "properties": object{wordKey: object{"type": "string", "description": "a text"}},
		},
	}
	if description != "" {
		fn["description"] = description
	}
	if t.f.bare {
		return fn
	}
	return object{"type": "function", "function": fn}
}

// called is a call.
func called(id, name string, args any) object {
	return object{"id": id, "type": "function", "function": object{"name": name, "arguments": args}}
}

// contents finds the roles whose content must be a list of parts.
func (t *trial) contents() {
	for _, role := range []turn.Role{turn.User, turn.System, turn.Assistant} {
		try := func() bool {
			ms := []object{t.say(turn.User, wordUser)}
			switch role {
			case turn.System:
				ms = []object{t.say(role, wordText), ms[0]}
			case turn.Assistant:
				ms = append(ms, t.say(role, wordText), t.say(turn.User, wordUser2))
			case turn.User:
				ms = []object{t.say(role, wordText)}
			}
			return t.prints(ms, wordText)
		}
		if try() {
			continue
		}
		if t.f.parts[role] = true; !try() {
			delete(t.f.parts, role)
		}
	}
}

// systems finds where system messages are printed.
func (t *trial) systems() {
	user := t.say(turn.User, wordUser)
	first, more := t.say(turn.System, wordSystem), t.say(turn.System, wordMore)
	t.f.system = t.prints([]object{first, user}, wordSystem, wordUser)
	t.f.systems = t.prints([]object{first, more, user}, wordSystem, wordMore, wordUser)
	answer, next := t.say(turn.Assistant, wordText), t.say(turn.User, wordUser2)
	t.f.midSystem = t.prints([]object{user, answer, next, more}, wordUser, wordText, wordUser2, wordMore) &&
		t.prints([]object{first, user, answer, next, more}, wordSystem, wordUser, wordText, wordUser2, wordMore) &&
		t.prints([]object{first, user, more, answer, next}, wordSystem, wordUser, wordMore, wordText, wordUser2)
}

// rows finds which messages may follow each other.
func (t *trial) rows() {
	user, next := t.say(turn.User, wordUser), t.say(turn.User, wordUser2)
	answer, more := t.say(turn.Assistant, wordText), t.say(turn.Assistant, wordText2)
	t.f.users = t.prints([]object{user, next}, wordUser, wordUser2)
	t.f.answers = t.prints([]object{user, answer, more, next}, wordUser, wordText, wordText2, wordUser2)
	if t.f.calls && t.f.results {
		ms := append(t.loop("", t.args()), next)
		t.f.afterTool = t.prints(ms, wordUser, wordResult, wordUser2)
	}
}
