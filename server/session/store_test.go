package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// line makes a turn of a headerless client: a system message, then user and
// assistant by turns, and its rolling hashes, one per letter of path.
func line(path string) (*turn.Turn, []uint64) {
	t := &turn.Turn{Model: "m"}
	var rolling []uint64
	h := uint64(14695981039346656037)
	for i, c := range path {
		role := turn.User
		if i == 0 {
			role = turn.System
		} else if i%2 == 0 {
			role = turn.Assistant
		}
		t.Messages = append(t.Messages, turn.Message{Role: role})
		h = (h ^ uint64(c)) * 1099511628211
		rolling = append(rolling, h)
	}
	return t, rolling
}

// after is the hash after an answer c to path.
func after(path string, c rune) uint64 {
	_, r := line(path + string(c))
	return r[len(r)-1]
}

func TestInfer(t *testing.T) {
	now := time.Unix(1000, 0)
	s := New(Limits{})
	visit := func(path string, answer rune) string {
		tr, r := line(path)
		a := s.Find(tr, r, now)
		s.Said(a, r, Exact{}, after(path, answer))
		return tr.Who.Session + "/" + tr.Who.Agent
	}
	lead := visit("su", 'a')
	for _, c := range []struct {
		name, path string
		answer     rune
		same       bool // as the lead
		session    bool // of the lead
	}{
		{"goes on", "suav", 'b', true, true},
		{"the same again", "suav", 'b', true, true},
		{"another answer than ours came back", "suavXw", 'c', true, true},
		{"an earlier point", "suav", 'c', true, true},
		{"another user message after it", "suay", 'c', false, true},
		{"another first message", "sz", 'a', false, false},
		{"another system prompt", "Su", 'a', false, false},
	} {
		got := visit(c.path, c.answer)
		if (got == lead) != c.same {
			t.Errorf("%s: %s, lead is %s, want same %v", c.name, got, lead, c.same)
		}
		if same := got[:13] == lead[:13]; same != c.session {
			t.Errorf("%s: %s, lead is %s, want same session %v", c.name, got, lead, c.session)
		}
	}
}

// TestBegun: of a client without names only what is new is hashed, where an
// agent's last prompt is there to the letter, or lacks its last message.
func TestBegun(t *testing.T) {
	s := New(Limits{Agents: 2})
	now := time.Unix(1000, 0)
	ask := func(path, letters string) (begun int) {
		tr, r := line(path)
		var sums []uint64
		sum := uint64(7)
		for _, c := range letters {
			sum = sum*31 + uint64(c)
			sums = append(sums, sum)
		}
		got := s.Begun(tr, sums)
		if !slices.Equal(got, r[:len(got)]) {
			t.Fatalf("%s: %x, want the start of %x", path, got, r)
		}
		a := s.Find(tr, r, now)
		s.Said(a, r, Exact(append([]uint64{0}, sums...)[len(sums)-1:]), after(path, 'a'))
		return len(got)
	}
	for _, c := range []struct {
		path, letters string
		want          int
	}{
		{"su", "su", 0},
		{"suav", "suav", 2},
		{"suav", "suav", 4},
		{"suavbw", "suaVbw", 3}, // v is as good as the same, but not to the letter
		{"suavbwcx", "suaVbwcx", 6},
		{"suavbwcy", "suaVbwcy", 7}, // a fork: another last question
		{"suavby", "suaVby", 0},     // a fork from further above
		{"sz", "sz", 0},             // drops the lead
		{"suavbwcxdy", "suaVbwcxdy", 5},
	} {
		if got := ask(c.path, c.letters); got != c.want {
			t.Errorf("%s, %s: %d hashes are known, want %d", c.path, c.letters, got, c.want)
		}
	}
	if len(s.byExact) > 4 {
		t.Errorf("%d ends of prompts of two agents", len(s.byExact))
	}
}

func TestNamed(t *testing.T) {
	s := New(Limits{})
	find := func(session, agent string) *Agent {
		tr, r := line("su")
		tr.Who = turn.Who{Session: session, Agent: agent}
		return s.Find(tr, r, time.Unix(1000, 0))
	}
	a := find("x", "")
	if a != find("x", "main") || a == find("x", "sub") || a == find("y", "") {
		t.Error("agents are told apart by session and agent name")
	}
}

func TestBounds(t *testing.T) {
	s := New(Limits{Agents: 10, Bytes: 2000})
	for i := range 100 {
		tr, r := line("su" + string(rune('a'+i)))
		tr.Who = turn.Who{Session: fmt.Sprint(i)}
		a := s.Find(tr, r, time.Unix(int64(1000+i), 0))
		s.Holds(a, 400-3*placeBytes)
		s.Said(a, r, Exact{}, 0)
	}
	n := 0
	s.Recent(time.Time{}, 1000, func(*Agent) { n++ })
	if got, want := s.Stats(), (Stats{Agents: 5, Bytes: 2000, Limit: 2000, Dropped: 95}); n != 5 || got != want || len(s.byName) != 5 {
		t.Errorf("%d agents, %d names, %+v; want 5, 5, %+v", n, len(s.byName), got, want)
	}
	if len(s.byHash) > 15 {
		t.Errorf("%d places of 5 agents", len(s.byHash))
	}
}
