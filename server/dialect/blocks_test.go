package dialect

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
	"pgregory.net/rapid"
)

// interleaved draws an answer in which everything may come at any time: calls
// beside calls, text and thinking inside calls, calls that never end.
func interleaved(rt *rapid.T) script {
	s := script{name: "drawn", want: said{Stop: "end"}}
	var open []int
	args := map[int]string{}
	n := 0
	for range rapid.IntRange(0, 24).Draw(rt, "events") {
		switch rapid.IntRange(0, 5).Draw(rt, "kind") {
		case 0:
			text := rapid.SampledFrom([]string{"", "a", "b\n", `"c"`}).Draw(rt, "text")
			s.events, s.want.Text = append(s.events, says(text)), s.want.Text+text
		case 1:
			text := rapid.SampledFrom([]string{"", "t", "u "}).Draw(rt, "thought")
			s.events, s.want.Thinking = append(s.events, think(text)), s.want.Thinking+text
		case 2:
			s.events = append(s.events, turn.Event{Kind: turn.CallStart, Call: turn.Call{Index: n, ID: fmt.Sprint("id", n), Name: "ls"}})
			open = append(open, n)
			n++
		case 3, 4:
			if len(open) > 0 {
				i := rapid.SampledFrom(open).Draw(rt, "call")
				piece := `{"n":1}`[min(len(args[i]), 6):min(len(args[i])+3, 7)]
				args[i] += piece
				s.events = append(s.events, turn.Event{Kind: turn.CallArgs, Text: piece, Call: turn.Call{Index: i}})
			}
		case 5:
			if len(open) > 0 {
				i := rapid.IntRange(0, len(open)-1).Draw(rt, "ended")
				s.events = append(s.events, turn.Event{Kind: turn.CallEnd, Call: turn.Call{Index: open[i]}})
				open = append(open[:i], open[i+1:]...)
			}
		}
	}
	for i := range n {
		if args[i] == "" {
			args[i] = "{}"
		}
		s.want.Calls, s.want.Stop = append(s.want.Calls, call{fmt.Sprint("id", i), "ls", args[i]}), "calls"
	}
	s.events = append(s.events, done(turn.Ended))
	return s
}

// TestBlocksInAnyOrder plays drawn answers in every dialect to strict clients:
// blocks are numbered, closed, and never two are open; nothing is lost.
func TestBlocksInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := interleaved(rt)
		for d, c := range clients {
			want := s.expect(d)
			got := c.stream(t, parseSSE(t, s.play(d)))
			if !reflect.DeepEqual(got, want) || t.Failed() {
				rt.Fatalf("%s: %+v\ngot\n%+v\nwant\n%+v", d, s.events, got, want)
			}
			a := new(Answer)
			for _, e := range s.events {
				a.Add(e)
			}
			if text := a.joined(turn.Says) + a.joined(turn.Reasoning); text != want.Text+want.Thinking {
				rt.Fatalf("the answer has %q, want %q", text, want.Text+want.Thinking)
			}
		}
	})
}

// TestCallsGoOutWhole: when a call's last byte is parsed, all of it has gone
// to the client, in every dialect, and nothing of it comes later.
func TestCallsGoOutWhole(t *testing.T) {
	for d := range clients {
		enc := For(d).Stream(&turn.Turn{ID: "t", Model: "m", Dialect: d})
		wire := enc.Open(nil, turn.Usage{})
		for _, e := range calls(0, "ls", `{"p":`, `"a"}`) {
			wire = enc.Event(wire, e)
		}
		whole := map[turn.Dialect]string{
			turn.Messages:  `"type":"content_block_stop"`,
			turn.Responses: `"type":"response.output_item.done"`,
			turn.Chat:      `"arguments":"\"a\"}"`,
		}[d]
		if !strings.Contains(string(wire), whole) {
			t.Errorf("%s: no %s before the next event in\n%s", d, whole, wire)
		}
		if rest := string(enc.Event(nil, says("then"))); strings.Contains(rest, "id0") || strings.Contains(rest, "tool_use") {
			t.Errorf("%s: the call goes on in %s", d, rest)
		}
	}
}
