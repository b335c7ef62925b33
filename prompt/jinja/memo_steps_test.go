package jinja

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// talk is a conversation that grows and is edited, as clients do.
type talk struct {
	messages []Value
	tools    Value
	switches *Map
	count    int
}

func entry(pairs ...any) *Map {
	m := &Map{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			m.Set(pairs[i].(string), String(v))
		case *Map:
			m.Set(pairs[i].(string), Mapping(v))
		case Value:
			m.Set(pairs[i].(string), v)
		}
	}
	return m
}

func (c *talk) say(role string) *Map {
	c.count++
	return entry("role", role, "content", fmt.Sprintf("%s %d said\nthis.", role, c.count))
}

// call is an assistant's message with a tool call, and its result.
func (c *talk) call(thinks bool) (*Map, *Map) {
	m := c.say("assistant")
	id := fmt.Sprintf("call%05d", c.count)
	if thinks {
		m.Set("reasoning_content", String("because "+id))
	}
	args := entry("path", id+".go", "depth", Int(int64(c.count)), "all", yes)
	m.Set("tool_calls", List(Mapping(entry("id", id, "type", "function", "function", entry("name", "look", "arguments", args)))))
	out := c.say("tool")
	out.Set("tool_call_id", String(id))
	out.Set("name", String("look"))
	return m, out
}

func (c *talk) add(ms ...*Map) {
	for _, m := range ms {
		c.messages = append(c.messages, Mapping(m))
	}
}

// turn adds what one round trip of an agent adds.
func (c *talk) turn(calls bool) {
	if calls {
		c.add(c.call(c.count%3 == 0))
		return
	}
	c.add(c.say("assistant"), c.say("user"))
}

func newTalk(system, tools bool) *talk {
	c := &talk{switches: entry("add_generation_prompt", yes, "bos_token", "<s>", "eos_token", "</s>")}
	if system {
		c.add(c.say("system"))
	}
	c.add(c.say("user"))
	if tools {
		c.tools = tooling("look")
	}
	return c
}

func tooling(name string) Value {
	params := entry("type", "object", "properties", entry("path", entry("type", "string", "description", "a file")), "required", List(String("path")))
	return List(Mapping(entry("type", "function", "function", entry("name", name, "description", "looks at a file", "parameters", params))))
}

// context is what a rendering gets: new lists of the same messages.
func (c *talk) context() Value {
	m := c.switches.clone()
	m.Set("messages", List(slices.Clone(c.messages)...))
	if c.tools.kind == kList {
		m.Set("tools", c.tools)
	}
	return Mapping(m)
}

// step changes the conversation in one of the ways that clients do.
func (c *talk) step(t *rapid.T) {
	at := func() int { return rapid.IntRange(0, max(0, len(c.messages)-1)).Draw(t, "at") }
	flip := func(name string) {
		v, _ := c.switches.Find(name)
		c.switches = c.switches.clone()
		c.switches.Set(name, Bool(!truth(v)))
	}
	edit := func(i int) {
		if len(c.messages) > 0 {
			m := c.messages[i].mapping().clone()
			m.Set("content", String(fmt.Sprintf("edited %d", c.count)))
			c.count++
			c.messages[i] = Mapping(m)
		}
	}
	switch rapid.IntRange(0, 13).Draw(t, "step") {
	case 0, 1, 2:
		c.turn(true)
	case 3, 4:
		c.turn(false)
	case 5:
		edit(len(c.messages) - 1)
	case 6:
		edit(at())
	case 7:
		if len(c.messages) > 2 {
			i := at()
			c.messages = slices.Delete(c.messages, i, i+1)
		}
	case 8:
		c.messages = slices.Insert(c.messages, at(), Mapping(c.say("user")))
	case 9:
		c.tools = tooling(rapid.SampledFrom([]string{"look", "see"}).Draw(t, "tool"))
	case 10:
		flip("add_generation_prompt")
	case 11:
		flip(rapid.SampledFrom([]string{"enable_thinking", "thinking", "clear_thinking", "preserve_thinking"}).Draw(t, "switch"))
	case 12:
		// Equal messages that are others, and one that stands there twice.
		for i := range c.messages {
			c.messages[i] = Mapping(c.messages[i].mapping().clone())
		}
		if len(c.messages) > 0 && rapid.Bool().Draw(t, "twice") {
			c.messages = append(c.messages, c.messages[at()])
		}
	case 13:
		c.messages = c.messages[:at()]
	}
}

// A Memo carried through any history of a conversation changes neither text
// nor errors nor spans.
func TestMemoSteps(t *testing.T) {
	all := parsed(t)
	names := slices.Sorted(maps.Keys(all))
	if len(names) == 0 {
		t.Skip("no templates")
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "template")
		c := newTalk(rapid.Bool().Draw(t, "system"), rapid.Bool().Draw(t, "tools"))
		var m page
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			c.step(t)
			ctx := c.context()
			checkMemo(t, all[name], ctx, &m)
			checkFresh(t, all[name], ctx, &m)
		}
	})
	// Each of them at least once, whatever was drawn.
	for _, name := range names {
		c := newTalk(true, true)
		var m page
		for i := range 6 {
			c.turn(i%3 != 2)
			checkMemo(t, all[name], c.context(), &m)
		}
	}
}

// checkFresh checks that spans do not depend on what came before.
func checkFresh(t rapid.TB, tmpl *Template, ctx Value, m *page) {
	var fresh page
	if _, err := fresh.render(tmpl, ctx, Options{Now: clock}); err != nil {
		return
	}
	for i, s := range m.Spans() {
		if w := fresh.Spans()[i]; s.Start != w.Start || s.End != w.End {
			t.Fatalf("message %d at %v, from nothing at %v", i, s, w)
		}
	}
}
