package jinja

import "testing"

// Rounds that see nothing new are not run again: how many are, when a turn is
// added to a conversation, by the way that a template is written.
func TestMemoCount(t *testing.T) {
	for _, c := range []struct {
		name      string
		src       string
		tool      int // rounds run when a call and its result are added
		user      int // and then an answer and a question
		fromStart int // and when the switch flag is flipped
	}{
		{"plain", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", 2, 2, 0},
		{"first and last", "{% for m in messages %}{% if loop.first %}{{ bos_token }}{% endif %}{{ m.content }}{% if loop.last and add_generation_prompt %}>{% endif %}{% endfor %}", 3, 3, 0},
		{"neighbours", "{% for m in messages %}{% if loop.first or messages[loop.index0 - 1].role != 'tool' %}<{% endif %}{{ m.content }}" +
			"{% if loop.last or messages[loop.index0 + 1].role != 'tool' %}>{% endif %}{% endfor %}", 2, 2, 0},
		{
			"last question", "{% set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}" +
				"{% for m in messages %}{% if m.role == 'assistant' and loop.index0 > ns.last and m.reasoning_content %}{{ m.reasoning_content }}{% endif %}{{ m.content }}{% endfor %}", 2, 7, 0,
		},
		{
			"flags set by rounds", "{% set ns = namespace(tool=false) %}{% for m in messages %}{% if m.role == 'tool' %}{% set ns.tool = true %}T{% else %}{% if ns.tool %}/T{% endif %}" +
				"{% set ns.tool = false %}{{ m.content }}{% endif %}{% endfor %}", 2, 2, 0,
		},
		{"macro", "{% macro say(m, end) %}{{ m.content ~ eos_token ~ end }}{% endmacro %}{% for m in messages %}{{ say(m, '.') }}{% endfor %}", 2, 2, 0},
		{"switch", "{% for m in messages %}{% if m.role == 'assistant' and flag %}!{% endif %}{{ m.content }}{% endfor %}", 2, 2, 26},
		{"slice", "{% set rest = messages[1:] %}{% for m in rest %}{{ m.content }}{{ rest[loop.index0 - 1].role if loop.index0 }}{% endfor %}", 2, 2, 0},
		{"numbers", "{% for i in range(messages|length) %}{% set m = messages[i] %}{{ m.content }}{% if i == messages|length - 1 %}>{% endif %}{% endfor %}", 3, 3, 0},
		{"search", "{% for m in messages %}{% set f = namespace(at='') %}{% for n in messages[loop.index:] %}{% if not f.at %}{% set f.at = n.role %}{% endif %}{% endfor %}{{ f.at }}{{ m.content }}{% endfor %}", 4, 4, 0},
		{"copies", "{% set ns = namespace(all=[]) %}{% for m in messages %}{% set ns.all = ns.all + [{'role': m.role, 'text': m.content}] %}{{ '' }}{% endfor %}" +
			"{% for m in ns.all %}{{ m.text }}{% endfor %}", 4, 4, 0},
		{"all of them", "{% for m in messages %}{{ messages|length }}{% endfor %}", 52, 54, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := Parse(c.src)
			if err != nil {
				t.Fatal(err)
			}
			talk := newTalk(true, false)
			talk.switches.Set("flag", no)
			for i := range 20 {
				talk.turn(true)
				if i%5 == 0 {
					talk.turn(false)
				}
			}
			var m page
			checkMemo(t, tmpl, talk.context(), &m)
			check := func(what string, want int) {
				t.Helper()
				checkMemo(t, tmpl, talk.context(), &m)
				if m.ran != want {
					t.Errorf("%s: %d rounds run, want %d; %d reused", what, m.ran, want, m.reused)
				}
			}
			check("nothing new", 0)
			talk.turn(true)
			check("a call", c.tool)
			talk.turn(false)
			check("a question", c.user)
			talk.switches = talk.switches.clone()
			talk.switches.Set("flag", yes)
			check("a switch", c.fromStart)
		})
	}
}

// A Memo says what it holds, and does not grow while nothing does.
func TestMemoBytes(t *testing.T) {
	tmpl, err := Parse("{% for m in messages %}{{ m.role }}{{ m.content }}{{ eos_token }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	c := newTalk(true, false)
	for range 100 {
		c.turn(true)
	}
	var m page
	checkMemo(t, tmpl, c.context(), &m)
	first := m.Bytes()
	text, err := tmpl.Render(nil, c.context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first < len(text) || first > 10*len(text)+1000*len(c.messages) {
		t.Errorf("%d bytes for %d messages, %d bytes of text", first, len(c.messages), len(text))
	}
	for range 50 {
		c.messages[len(c.messages)-1] = Mapping(c.say("user"))
		checkMemo(t, tmpl, c.context(), &m)
	}
	if m.Bytes() > 3*first {
		t.Errorf("%d bytes after the last message changed again and again, %d before", m.Bytes(), first)
	}
}

// Looking over an old round takes no memory.
func TestMemoAllocates(t *testing.T) {
	tmpl, err := Parse("{% set ns = namespace(last=0, tool=false) %}{% for m in messages %}{% if m.role == 'tool' %}{% set ns.tool = true %}{% endif %}" +
		"{% if loop.first or messages[loop.index0 - 1].role != 'tool' or ns.tool %}<{{ m.content ~ eos_token }}{% endif %}{% if loop.last %}>{% endif %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	allocs := func(turns int) float64 {
		talk := newTalk(true, false)
		for range turns {
			talk.turn(true)
		}
		ctx := talk.context()
		var m page
		if _, err := m.render(tmpl, ctx, Options{}); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(10, func() { _, _ = m.render(tmpl, ctx, Options{}) })
	}
	allocs(10)                                               // the first rendering grows the Memo
	if few, many := allocs(10), allocs(500); many > few+20 { // desks come from a pool, which may be empty
		t.Errorf("%v allocations for 21 messages, %v for 1,001", few, many)
	}
}
