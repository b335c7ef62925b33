package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/turn"
)

// spot is a field that can be edited: of a block, or of a tool.
type spot struct {
	message, block, tool int
	field                string
	size                 int
}

// spots are the fields of a turn that say something.
func spots(t *turn.Turn) (all []spot) {
	add := func(s spot) {
		if s.size > 0 {
			all = append(all, s)
		}
	}
	for i := range t.Messages {
		for j := range t.Messages[i].Blocks {
			b := &t.Messages[i].Blocks[j]
			text := diff.FieldText
			if b.Kind == turn.ThinkingBlock {
				text = diff.FieldThinking
			}
			add(spot{i, j, -1, text, len(b.Text)})
			add(spot{i, j, -1, diff.FieldName, len(b.Name)})
			add(spot{i, j, -1, diff.FieldID, len(b.ID)})
			add(spot{i, j, -1, diff.FieldArgs, len(b.Args)})
			add(spot{i, j, -1, diff.FieldRaw, len(b.Raw)})
		}
	}
	for i := range t.Tools {
		add(spot{-1, -1, i, diff.FieldName, len(t.Tools[i].Name)})
		add(spot{-1, -1, i, diff.FieldDescription, len(t.Tools[i].Description)})
		add(spot{-1, -1, i, diff.FieldSchema, len(t.Tools[i].Schema)})
	}
	return all
}

// edited is a copy of t with one byte of a field changed.
func edited(t *turn.Turn, s spot, at int, to byte) *turn.Turn {
	c := *t
	c.Messages, c.Tools = slices.Clone(t.Messages), slices.Clone(t.Tools)
	if s.tool >= 0 {
		x := &c.Tools[s.tool]
		switch s.field {
		case diff.FieldName:
			x.Name = put(x.Name, at, to)
		case diff.FieldDescription:
			x.Description = put(x.Description, at, to)
		default:
			x.Schema = json.RawMessage(put(string(x.Schema), at, to))
		}
		return &c
	}
	m := &c.Messages[s.message]
	*m = turn.Message{Role: m.Role, Blocks: slices.Clone(m.Blocks)}
	b := &m.Blocks[s.block]
	switch s.field {
	case diff.FieldName:
		b.Name = put(b.Name, at, to)
	case diff.FieldID:
		b.ID = put(b.ID, at, to)
	case diff.FieldArgs:
		b.Args = json.RawMessage(put(string(b.Args), at, to))
	case diff.FieldRaw:
		b.Raw = json.RawMessage(put(string(b.Raw), at, to))
	default:
		b.Text = put(b.Text, at, to)
	}
	return &c
}

// put is s with another byte at a place, or near it: one of a character that
// has one byte.
func put(s string, at int, to byte) string {
	for i := range s {
		if i >= at && s[i] < 0x80 {
			at = i
			break
		}
	}
	if s[at] >= 0x80 {
		return s
	}
	if s[at] == to {
		to ^= 1
	}
	return s[:at] + string(to) + s[at+1:]
}

// recordedTurns are all turns of all recordings, long texts cut to their
// heads, by dialect.
func recordedTurns(t *testing.T) map[turn.Dialect][]*turn.Turn {
	files, _ := filepath.Glob(filepath.Join(fixtures(t), "recordings", "*.json"))
	if len(files) == 0 {
		t.Skip("no recordings in the fixtures")
	}
	all := map[turn.Dialect][]*turn.Turn{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range readRecording(t, data, func(head string, _ int, hash string) string { return head + " " + hash }) {
			all[r.turn.Dialect] = append(all[r.turn.Dialect], r.turn)
		}
	}
	return all
}

// TestRandomEdits changes one byte of what clients were recorded to send, a
// thousand times, in any message, block and field: the break names them, and
// its token is the first that differs. Where no token does, there is none; nor
// where the same is sent again, or more of it.
func TestRandomEdits(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	models := twoTemplates(t)
	models["sim"] = simModel(t)
	turns := recordedTurns(t)
	breaks, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := models[rapid.SampledFrom(slices.Sorted(maps.Keys(models))).Draw(t, "model")]
		of := turns[rapid.SampledFrom([]turn.Dialect{turn.Chat, turn.Responses, turn.Messages}).Draw(t, "dialect")]
		tr := rapid.SampledFrom(of).Draw(t, "turn")
		var s State
		p, err := m.Build(&s, tr, nil, nil)
		if err != nil {
			t.Skip(err)
		}
		for range 10 {
			x := drawSpot(t, tr)
			now := edited(tr, x, rapid.IntRange(0, x.size-1).Draw(t, "byte"), rapid.Byte().Filter(func(b byte) bool { return b < 0x80 }).Draw(t, "to"))
			next, err := m.Build(&s, now, nil, nil)
			if err != nil {
				t.Skip(err)
			}
			if checkEdit(t, m, tr, x, p, next, breaks) {
				breaks++
			} else {
				none++
			}
			if p, err = m.Build(&s, tr, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Logf("%d edits changed a token, %d none", breaks, none)
	if breaks < 100 {
		t.Error("the edits changed nothing")
	}
}

// drawSpot takes a field of a message as often as one of a tool, and one of a
// call as often as a text.
func drawSpot(t *rapid.T, tr *turn.Turn) spot {
	all := spots(tr)
	want := rapid.SampledFrom([]string{"text", "text", "call", "tool"}).Draw(t, "sort")
	some := slices.DeleteFunc(slices.Clone(all), func(s spot) bool {
		switch {
		case s.tool >= 0:
			return want != "tool"
		case s.field == diff.FieldText || s.field == diff.FieldThinking:
			return want != "text"
		}
		return want != "call"
	})
	if len(some) == 0 {
		some = all
	}
	return rapid.SampledFrom(some).Draw(t, "spot")
}

// checkEdit holds the break of an edited turn against its ids.
func checkEdit(t *rapid.T, m *Model, tr *turn.Turn, x spot, p, next Prompt, seen int) (broke bool) {
	was, now := p.IDs.Flat(), next.IDs.Flat()
	if seen%8 == 0 {
		if want, err := m.Build(nil, tr, nil, nil); err != nil || !slices.Equal(want.IDs.Flat(), was) {
			t.Fatalf("the prompt is not what is built from nothing (%v)", err)
		}
	}
	at := 0
	for at < min(len(was), len(now)) && was[at] == now[at] {
		at++
	}
	if slices.Equal(was, now) {
		if next.Break != nil {
			t.Fatalf("%+v where no token is another one: %+v", next.Break, x)
		}
		return false
	}
	b := next.Break
	if b == nil {
		t.Fatalf("no break at %+v: token %d of %d and %d", x, at, len(was), len(now))
	}
	got, want := fmt.Sprint(b.Token, b.Message, b.Block, b.Tool, b.Field), fmt.Sprint(at, x.message, x.block, x.tool, x.field)
	if got != want {
		t.Fatalf("break %s, want %s: %+v\n%+v", got, want, b, b.Text)
	}
	return true
}

// TestEditsAmongAnswers is the same with a conversation in which the model's own
// answers stand in ids of their own.
func TestEditsAmongAnswers(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	m := simModel(t)
	raw := NewRaw("m", 1<<20, nil)
	var s State
	tr := &turn.Turn{
		Tools:    []turn.Tool{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []turn.Message{msg(turn.System, says("Be of help.")), msg(turn.User, says("What is in a.txt, and why?"))},
	}
	var p Prompt
	for i := range 4 {
		var err error
		if p, err = m.Build(&s, tr, nil, raw); err != nil || p.Break != nil || p.Spliced != i {
			t.Fatalf("step %d: %v, %+v, %d answers stand as they were made", i, err, p.Break, p.Spliced)
		}
		said := msg(turn.Assistant, says(fmt.Sprint("I look for the ", i, "th time.")), calls("look", fmt.Sprintf(`{"at":"a%d.txt"}`, i)))
		ids := m.tok.Encode(m.tok.Encode(nil, "I look for"), fmt.Sprintf(" the %dth  time.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"a%d.txt\" }}\n</tool_call>", i, i))
		before := p.Rolling[len(p.Rolling)-1]
		raw.Put(before, turn.RawTurn{Key: Next(before, said), Opening: p.Opening, IDs: ids})
		tr.Messages = append(tr.Messages, said, msg(turn.ToolRole, result(fmt.Sprint("three words and ", i))))
	}
	p, err := m.Build(&s, tr, nil, raw)
	if err != nil || p.Spliced != 4 {
		t.Fatal(err, p.Spliced)
	}
	broke := 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawSpot(t, tr)
		now := edited(tr, x, rapid.IntRange(0, x.size-1).Draw(t, "byte"), rapid.ByteRange('0', 'z').Draw(t, "to"))
		next, err := m.Build(&s, now, nil, raw)
		if err != nil {
			t.Skip(err)
		}
		if checkEdit(t, m, tr, x, p, next, 1) {
			broke++
		}
		if back, err := m.Build(&s, tr, nil, raw); err != nil || !slices.Equal(back.IDs.Flat(), p.IDs.Flat()) {
			t.Fatalf("the prompt before does not come back (%v)", err)
		}
	})
	if broke < 30 {
		t.Errorf("%d edits changed a token", broke)
	}
}

// TestTwoEdits changes two places at once: the break names the one by which
// alone an earlier token is another one.
func TestTwoEdits(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	models := twoTemplates(t)
	models["sim"] = simModel(t)
	turns := recordedTurns(t)
	broke := 0
	rapid.Check(t, func(t *rapid.T) {
		m := models[rapid.SampledFrom(slices.Sorted(maps.Keys(models))).Draw(t, "model")]
		of := turns[rapid.SampledFrom([]turn.Dialect{turn.Chat, turn.Responses, turn.Messages}).Draw(t, "dialect")]
		tr := rapid.SampledFrom(of).Draw(t, "turn")
		both, at := tr, [2]int{}
		var of2 [2]spot
		for i := range of2 {
			x := drawSpot(t, tr)
			n, to := rapid.IntRange(0, x.size-1).Draw(t, "byte"), rapid.ByteRange('0', 'z').Draw(t, "to")
			at[i], of2[i] = firstOther(t, m, tr, edited(tr, x, n, to)), x
			both = edited(both, x, n, to)
		}
		if of2[0] == of2[1] || at[0] == at[1] || at[0] < 0 || at[1] < 0 {
			t.Skip("one place")
		}
		if len(tr.Messages) <= 2 {
			t.Skip("nothing else is as it was: those are two conversations")
		}
		var s State
		if _, err := m.Build(&s, tr, nil, nil); err != nil {
			t.Skip(err)
		}
		p, err := m.Build(&s, both, nil, nil)
		if err != nil {
			t.Skip(err)
		}
		x := of2[0]
		if at[1] < at[0] {
			x = of2[1]
		}
		b := p.Break
		if b == nil || b.Token != min(at[0], at[1]) || b.Message != x.message || b.Block != x.block || b.Tool != x.tool || b.Field != x.field {
			t.Fatalf("%+v, want %+v at token %d; the other is %+v", b, x, min(at[0], at[1]), of2)
		}
		broke++
	})
	if broke < 50 {
		t.Errorf("%d pairs broke a prompt", broke)
	}
}

// firstOther is the first token in which two turns' prompts differ, -1 for none.
func firstOther(t *rapid.T, m *Model, a, b *turn.Turn) int {
	p, err := m.Build(nil, a, nil, nil)
	if err != nil {
		t.Skip(err)
	}
	q, err := m.Build(nil, b, nil, nil)
	if err != nil {
		t.Skip(err)
	}
	if slices.Equal(p.IDs.Flat(), q.IDs.Flat()) {
		return -1
	}
	return shared(p.IDs, q.IDs)
}
