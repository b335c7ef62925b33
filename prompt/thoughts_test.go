package prompt

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestThoughtsOfTheClient checks which reasoning in the client's copy counts
// as the model's: all of it, part of it, none. Other reasoning is an edit.
func TestThoughtsOfTheClient(t *testing.T) {
	m := simModel(t)
	const thought = "I look  first.\nThen I say."
	for _, c := range []struct {
		client []string
		edited int
	}{
		{nil, 0},
		{[]string{" "}, 0},
		{[]string{thought}, 0},
		{[]string{"I look first. Then I say.\n"}, 0},
		{[]string{"I look  first.", "Then I say."}, 0},
		{[]string{"Then I say."}, 0},
		{[]string{"I look  first.Then I say."}, 0},
		{[]string{"I say nothing."}, 1},
		{[]string{thought, "And more."}, 1},
	} {
		raw := NewRaw("sim", 1<<20, nil)
		hi := msg(turn.User, says("hi"))
		p, err := m.Build(nil, &turn.Turn{Messages: []turn.Message{hi}}, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		raw.Put(p.Rolling[0], turn.RawTurn{
			Key: Next(p.Rolling[0], msg(turn.Assistant, says("yes"))), Opening: p.Opening, Thinking: thought,
			IDs: m.tok.Encode(nil, "<think>\n"+thought+"\n</think>\n\nyes"),
		})
		answer := turn.Message{Role: turn.Assistant}
		for _, s := range c.client {
			answer.Blocks = append(answer.Blocks, turn.Block{Kind: turn.ThinkingBlock, Text: s})
		}
		answer.Blocks = append(answer.Blocks, says("yes"))
		p, err = m.Build(nil, &turn.Turn{Messages: []turn.Message{hi, answer}}, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		text := string(m.tok.Decode(nil, p.IDs.Flat()))
		if p.Edited != c.edited || p.Spliced != 1-c.edited || strings.Contains(text, thought) != (c.edited == 0 || len(c.client) > 1) {
			t.Errorf("%q: edited %d, spliced %d in %q", c.client, p.Edited, p.Spliced, text)
		}
	}
}

// TestCdOfTheClient: a command that lost its leading cd is the model's still;
// one that goes elsewhere is not, or one that went nowhere before.
func TestCdOfTheClient(t *testing.T) {
	m := simModel(t)
	for _, c := range []struct {
		made, client string
		edited       int
	}{
		{`{"command": "cd /tmp && make \"x\""}`, `{"command":"make \"x\""}`, 0},
		{`{"command": "cd /tmp && make"}`, `{"command":"cd /tmp && make"}`, 0},
		{`{"command": "cd \"/a b\" && make"}`, `{"command":"cd \"/a b\" \u0026\u0026 make"}`, 0},
		{`{"command": "cd /tmp && make"}`, `{"command":"cd /etc && make"}`, 1},
		{`{"command": "make"}`, `{"command":"cd /etc && make"}`, 1},
		{`{"command": "make", "why": "cd is good"}`, `{"command":"make","why":"cd is good"}`, 0},
	} {
		raw := NewRaw("sim", 1<<20, nil)
		hi := msg(turn.User, says("hi"))
		p, err := m.Build(nil, &turn.Turn{Messages: []turn.Message{hi}}, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		raw.Put(p.Rolling[0], turn.RawTurn{
			Key: Next(p.Rolling[0], msg(turn.Assistant, calls("run", c.made))), Opening: p.Opening,
			IDs: m.tok.Encode(nil, "<tool_call>\n{\"name\":\"run\", \"arguments\": "+c.made+"}\n</tool_call>"),
		})
		p, err = m.Build(nil, &turn.Turn{Messages: []turn.Message{hi, msg(turn.Assistant, calls("run", c.client))}}, nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		if p.Edited != c.edited || p.Spliced != 1-c.edited {
			t.Errorf("%s from %s: edited %d, spliced %d", c.client, c.made, p.Edited, p.Spliced)
		}
	}
}
