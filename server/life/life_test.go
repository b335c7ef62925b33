package life

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What Claude Code and Codex hand to their hooks, shortened.
func TestHeard(t *testing.T) {
	for _, c := range []struct {
		name, hook, doc string
		want            Note
	}{
		{"a session begins", "SessionStart", `{"hook_event_name":"SessionStart","session_id":"s","source":"compact","model":"m"}`, Note{Event: Started, Session: "s", Why: "compact"}},
		{"a person speaks", "UserPromptSubmit", `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"my secret"}`, Note{Event: Prompted, Session: "s"}},
		{"a tool", "", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"cat secret"}}`, Note{Event: ToolBegan, Session: "s", Tool: "Bash", Call: "c1"}},
		{"and its end", "", `{"hook_event_name":"PostToolUse","session_id":"s","agent_id":"a1","agent_type":"Explore","tool_name":"Bash","tool_use_id":"c1","tool_response":{"stdout":"secret"},"duration_ms":1500.5}`, Note{Event: ToolEnded, Session: "s", Agent: "a1", Tool: "Bash", Call: "c1", Took: 1500500 * time.Microsecond}},
		{"without a time", "PostToolUse", `{"session_id":"s","tool_name":"exec","tool_use_id":"c1"}`, Note{Event: ToolEnded, Session: "s", Tool: "exec", Call: "c1"}},
		{"an agent", "", `{"hook_event_name":"SubagentStart","session_id":"s","agent_id":"a1","agent_type":"Explore"}`, Note{Event: AgentBegan, Session: "s", Agent: "a1", Why: "Explore"}},
		{"an agent ends", "", `{"hook_event_name":"SubagentStop","session_id":"s","agent_id":"a1","agent_type":"Explore","last_assistant_message":"secret"}`, Note{Event: AgentEnded, Session: "s", Agent: "a1", Why: "Explore"}},
		{"the lead waits", "", `{"hook_event_name":"Stop","session_id":"s","background_tasks":[{"id":"a1"},{"id":"a2"}]}`, Note{Event: Rested, Session: "s", Beside: 2}},
		{"a summary", "", `{"hook_event_name":"PreCompact","session_id":"s","trigger":"auto"}`, Note{Event: CompactBegan, Session: "s", Why: "auto"}},
		{"the end", "", `{"hook_event_name":"SessionEnd","session_id":"s","reason":"clear"}`, Note{Event: SessionEnded, Session: "s", Why: "clear"}},
	} {
		got, err := Heard(strings.NewReader(c.doc), c.hook)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
		sent := got.Append(nil)
		if again, err := Parse(sent); err != nil || again != got {
			t.Errorf("%s: as a datagram %+v, %v", c.name, again, err)
		}
		if strings.Contains(string(sent), "secret") {
			t.Errorf("%s: %s holds what was said", c.name, sent)
		}
	}
	for _, doc := range []string{
		`{"hook_event_name":"SubagentStop","session_id":"s","agent_id":"x","agent_type":""}`, // Claude Code's own call for a summary
		`{"hook_event_name":"Notification","session_id":"s"}`,
		`{"hook_event_name":"Stop"}`,
	} {
		if n, err := Heard(strings.NewReader(doc), ""); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %+v, %v", doc, n, err)
		}
	}
	if _, err := Heard(strings.NewReader(`{"hook_event`), "Stop"); err == nil || errors.Is(err, ErrNothing) {
		t.Errorf("half a document: %v", err)
	}
}

// TestDatagram: any note comes out as it went in, cut where it is too long, and
// is never larger than a datagram may be.
func TestDatagram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.Rune(), 0, 700, -1)
		n := Note{
			Event: rapid.SampledFrom(events).Draw(t, "event"), Session: "s" + text.Draw(t, "session"), Agent: text.Draw(t, "agent"),
			Tool: text.Draw(t, "tool"), Call: text.Draw(t, "call"), Why: text.Draw(t, "why"),
			Took: time.Duration(rapid.Int64Min(0).Draw(t, "took")), Beside: rapid.IntMin(0).Draw(t, "beside"),
		}
		want := n
		for _, s := range []*string{&want.Session, &want.Agent, &want.Tool, &want.Call, &want.Why} {
			*s = cut(*s)
		}
		b := n.Append(nil)
		got, err := Parse(b)
		if len(b) > Most {
			if err == nil {
				t.Fatalf("a datagram of %d bytes was read", len(b))
			}
			return
		}
		if err != nil || got != want {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	})
}

// FuzzParse: whatever comes on the socket is a note within its bounds, or none.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"v":1,"event":"tool","session":"s","tool":"Bash"}`, `{"v":1,"event":"tool done","session":"s","took_ns":-1}`, `{"v":2}`, `[]`, `{`, "",
		`{"v":1,"event":"rested","session":"s","beside":99999999999999999999}`, `{"v":1,"event":"tool","session":"` + strings.Repeat("s", 600) + `"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Parse(b)
		if err != nil {
			return
		}
		if n.Session == "" || len(n.Session) > mostName || len(n.Tool) > mostName || n.Took < 0 {
			t.Fatalf("%q is %+v", b, n)
		}
		var s State
		for i := range 3 {
			s.Hear(time.Unix(int64(i), 0), n)
		}
	})
}

// FuzzHeard: whatever a harness hands over is a note that fits a datagram, or
// none.
func FuzzHeard(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"PostToolUse","session_id":"s","duration_ms":1e300}`))
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"s","background_tasks":{"a":1}}`))
	f.Add([]byte(`{"hook_event_name":["Stop"],"session_id":7}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Heard(strings.NewReader(string(b)), "Stop")
		if err != nil {
			return
		}
		if _, err := Parse(n.Append(nil)); err != nil {
			t.Fatalf("%q: %+v: %v", b, n, err)
		}
	})
}

// TestState plays steps of a life, a second each.
func TestState(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	hear := func(n Note) func(*State, time.Time) { return func(s *State, now time.Time) { s.Hear(now, n) } }
	tool := func(e Event, name, call string) func(*State, time.Time) {
		return hear(Note{Event: e, Tool: name, Call: call})
	}
	land := func(begun int, call string) func(*State, time.Time) {
		return func(s *State, now time.Time) { s.Land(now, at(begun), call) }
	}
	begin := func(s *State, now time.Time) { s.Begin(now) }
	for _, c := range []struct {
		name  string
		steps []func(*State, time.Time)
		want  State
	}{
		{"an answer with a call", []func(*State, time.Time){begin, land(0, "Bash")}, State{Doing: Tool, Tool: "Bash", Since: at(1)}},
		{"an answer without", []func(*State, time.Time){begin, land(0, "")}, State{Doing: Idle, Since: at(1)}},
		{"told before the turn was noted", []func(*State, time.Time){begin, tool(ToolBegan, "Bash", "1"), tool(ToolEnded, "Bash", "1"), land(0, "Bash")}, State{Doing: Due, Since: at(2), Told: at(2)}},
		{"told after it", []func(*State, time.Time){begin, land(0, "Bash"), tool(ToolBegan, "Bash", "1"), tool(ToolBegan, "Read", "2")}, State{Doing: Tool, Tool: "Read", Since: at(3), Told: at(3)}},
		{"one of two tools ended", []func(*State, time.Time){begin, tool(ToolBegan, "Bash", "1"), tool(ToolBegan, "Read", "2"), tool(ToolEnded, "Read", "2")}, State{Doing: Tool, Tool: "Bash", Since: at(3), Told: at(3)}},
		{"it waits for agents", []func(*State, time.Time){begin, hear(Note{Event: Rested, Beside: 1}), land(0, "")}, State{Doing: Agents, Since: at(1), Told: at(1)}},
		{"told of the turn before", []func(*State, time.Time){hear(Note{Event: Prompted}), begin, land(1, "")}, State{Doing: Idle, Since: at(2), Told: at(0)}},
		{"over", []func(*State, time.Time){begin, land(0, ""), hear(Note{Event: SessionEnded})}, State{Doing: Done, Since: at(2), Told: at(2), Why: "told"}},
		{"over while a turn ends", []func(*State, time.Time){begin, hear(Note{Event: AgentEnded}), land(0, "")}, State{Doing: Done, Since: at(1), Told: at(1), Why: "told"}},
		{"it goes on all the same", []func(*State, time.Time){begin, hear(Note{Event: AgentEnded}), begin}, State{Doing: Due, Since: at(2), Told: at(1)}},
		{"summed up", []func(*State, time.Time){begin, land(0, ""), hear(Note{Event: CompactEnded})}, State{Doing: Compacting, Since: at(2), Told: at(2)}},
	} {
		var s State
		for i, step := range c.steps {
			step(&s, at(i))
		}
		s.calls = nil
		if s.Doing != c.want.Doing || s.Tool != c.want.Tool || !s.Since.Equal(c.want.Since) || !s.Told.Equal(c.want.Told) || s.Why != c.want.Why {
			t.Errorf("%s: %+v, want %+v", c.name, s, c.want)
		}
	}
}

// TestTook: how long a tool took is what the harness says, or else the time
// between its two notes; nothing where only one came.
func TestTook(t *testing.T) {
	var s State
	s.Hear(time.Unix(0, 0), Note{Event: ToolBegan, Tool: "a", Call: "1"})
	if got := s.Hear(time.Unix(3, 0), Note{Event: ToolEnded, Tool: "a", Call: "1"}); got != 3*time.Second {
		t.Errorf("untold: %v", got)
	}
	s.Hear(time.Unix(4, 0), Note{Event: ToolBegan, Tool: "a", Call: "2"})
	if got := s.Hear(time.Unix(9, 0), Note{Event: ToolEnded, Tool: "a", Call: "2", Took: time.Second}); got != time.Second {
		t.Errorf("told: %v", got)
	}
	if got := s.Hear(time.Unix(9, 0), Note{Event: ToolEnded, Tool: "a", Call: "3"}); got != 0 {
		t.Errorf("its beginning was lost: %v", got)
	}
	for i := range 10 * mostCalls {
		s.Hear(time.Unix(10, 0), Note{Event: ToolBegan, Call: strings.Repeat("x", i)})
	}
	if len(s.calls) > mostCalls {
		t.Errorf("%d calls are kept", len(s.calls))
	}
}
