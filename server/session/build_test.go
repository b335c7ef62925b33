package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

func simModel(t testing.TB) *prompt.Model {
	t.Helper()
	m, err := prompt.OpenFS(model.FS(), prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func says(role turn.Role, s string) turn.Message {
	return turn.Message{Role: role, Blocks: []turn.Block{{Text: s}}}
}

// TestChains grows, cuts and forks an agent's line at random, with prompts that
// are too long to be kept among them: the chains are those of the prompt's ids,
// whatever block sizes come and go, and what was handed out stays.
func TestChains(t *testing.T) {
	m := simModel(t)
	rapid.Check(t, func(t *rapid.T) {
		a := &Agent{}
		all := []*Agent{a}
		var ms []turn.Message
		type out struct {
			ids    turn.IDs
			chains map[int][]uint64
		}
		var outs []out
		for i := range rapid.IntRange(1, 8).Draw(t, "turns") {
			switch rapid.IntRange(0, 6).Draw(t, "how") {
			case 0:
				ms = slices.Clone(ms[:rapid.IntRange(0, len(ms)).Draw(t, "keep")])
			case 1:
				a = &Agent{parent: a, near: rapid.Bool().Draw(t, "near")}
				all = append(all, a)
			case 2:
				a.empty()
			case 3:
				a = rapid.SampledFrom(all).Draw(t, "back to")
			}
			ms = append(ms, says(turn.User, fmt.Sprintf("question %d: %s", i, strings.Repeat("and so on ", rapid.IntRange(0, 30).Draw(t, "long")))))
			blocks := rapid.SampledFrom([][]int{{16}, {4, 16}, {4}, nil}).Draw(t, "blocks")
			tr := &turn.Turn{Messages: ms}
			b, err := a.Build(Asked{Model: m, Turn: tr, Seed: cache.Seed, Blocks: blocks, Most: rapid.SampledFrom([]int{0, 0, 1, 200}).Draw(t, "most")})
			if err != nil {
				t.Fatal(err)
			}
			if want, err := m.Build(nil, tr, nil, nil); err != nil || !slices.Equal(b.IDs.Flat(), want.IDs.Flat()) {
				t.Fatalf("turn %d: %d ids, want %d (%v)", i, b.IDs.Len(), want.IDs.Len(), err)
			}
			if len(b.Chains) != len(blocks) || b.Bytes == 0 {
				t.Fatalf("%d chains of %d block sizes, %d bytes", len(b.Chains), len(blocks), b.Bytes)
			}
			outs = append(outs, out{b.IDs, b.Chains})
			if rapid.Bool().Draw(t, "answer") {
				ms = append(slices.Clone(ms), says(turn.Assistant, "so it is"))
			}
		}
		for i, o := range outs {
			for block, chain := range o.chains {
				if want := cache.Extend(nil, cache.Seed, o.ids.Flat(), block); !slices.Equal(chain, want) {
					t.Fatalf("turn %d, blocks of %d: %x, want %x", i, block, chain, want)
				}
			}
		}
	})
}

// TestFormerTools: a request for compaction that comes without tools goes on
// from the prompt before, unless it is to stay as it is.
func TestFormerTools(t *testing.T) {
	m := simModel(t)
	var a Agent
	tools := []turn.Tool{{Name: "look", Description: strings.Repeat("Looks well. ", 50)}}
	ms := []turn.Message{says(turn.User, "hi")}
	build := func(t *testing.T, tr *turn.Turn, asIs bool) Built {
		b, err := a.Build(Asked{Model: m, Turn: tr, AsIs: asIs})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := build(t, &turn.Turn{Messages: ms, Tools: tools}, false)
	ms = append(slices.Clone(ms), says(turn.User, "sum up"))
	bare := &turn.Turn{Messages: ms, Who: turn.Who{Kind: "compaction"}}
	if b := build(t, bare, false); !b.Former || b.Same < first.IDs.Len()-len(first.Opening) || len(bare.Tools) != 0 {
		t.Errorf("former %v, %d of %d ids are the same, the turn has %d tools", b.Former, b.Same, first.IDs.Len(), len(bare.Tools))
	}
	if b := build(t, bare, true); b.Former || b.IDs.Len() >= first.IDs.Len() {
		t.Errorf("as it is: former %v, %d ids", b.Former, b.IDs.Len())
	}
	if b := build(t, &turn.Turn{Messages: ms, Who: turn.Who{Kind: "user"}}, false); b.Former {
		t.Error("a turn that is no compaction got tools")
	}
}

// shelf is a prompt.Shelf in memory.
type shelf map[uint64]turn.RawTurn

func (s shelf) Keep(t turn.RawTurn) { s[t.Key] = t }

func (s shelf) Find(model string, key uint64) (turn.RawTurn, bool) {
	t, ok := s[key]
	return t, ok && t.Model == model
}

// TestFormerToolsAfterRestart: a request for compaction without tools, whose
// history holds results that made tools known, goes on from the prompt before,
// also where nobody remembers the session but the shelf.
func TestFormerToolsAfterRestart(t *testing.T) {
	m := simModel(t)
	behind := shelf{}
	raw := prompt.NewRaw("m", 1<<20, behind)
	s := New(Limits{})
	ask := func(kind string, tools []turn.Tool, ms ...turn.Message) Built {
		tr := &turn.Turn{Model: "m", Who: turn.Who{Session: "x", Kind: kind}, Tools: tools, Messages: slices.Clone(ms)}
		if prompt.Bare(tr) {
			prompt.SteadyWith(tr, s.Tools(tr, raw))
		} else {
			prompt.Steady(tr)
		}
		b, err := s.Find(tr, nil, time.Unix(1000, 0)).Build(Asked{Model: m, Turn: tr, Raw: raw})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	tools := []turn.Tool{
		{Name: "Search", Description: strings.Repeat("Finds tools. ", 50), Schema: []byte(`{"type": "object", "a<b": 1.50}`)},
		{Name: "Late", Description: "Comes late.", Schema: []byte(`{"type": "object"}`), Deferred: true},
	}
	ms := []turn.Message{
		says(turn.User, "hi"),
		{Role: turn.Assistant, Blocks: []turn.Block{{Kind: turn.ToolUse, ID: "c", Name: "Search", Args: []byte(`{}`)}}},
		{Role: turn.ToolRole, Blocks: []turn.Block{{Kind: turn.ToolResult, ID: "c", Refs: []string{"Late"}}}},
	}
	if ask("user", tools, ms[0]); len(behind) != 0 {
		t.Errorf("%d entries are on the shelf after one turn", len(behind))
	}
	first := ask("user", tools, ms...)
	ms = append(ms, says(turn.Assistant, "so it is"), says(turn.User, "sum up"))
	goesOn := func(when string, b Built) {
		t.Helper()
		if n := first.IDs.Len() - len(first.Opening); !b.Former || !slices.Equal(b.IDs.Flat()[:n], first.IDs.Flat()[:n]) {
			t.Errorf("%s: former %v, the prompt does not go on from\n%s\nit is\n%s", when, b.Former, m.Tokenizer().Decode(nil, first.IDs.Flat()), m.Tokenizer().Decode(nil, b.IDs.Flat()))
		}
	}
	goesOn("as ever", ask("compaction", nil, ms...))
	s = New(Limits{})
	goesOn("after a restart", ask("compaction", nil, ms...))
	clear(behind)
	s = New(Limits{})
	if b := ask("compaction", nil, ms...); b.Former {
		t.Error("tools that nobody knows were found")
	}
}

// TestRest: the agents whose prompts were made last are awake, as far as there
// is room; the others hold ids only, and go on as if they had been awake.
func TestRest(t *testing.T) {
	m := simModel(t)
	s := New(Limits{Awake: 100_000})
	ask := func(session string, n int) Built {
		tr := &turn.Turn{Model: "m", Who: turn.Who{Session: session}}
		for i := range n {
			tr.Messages = append(tr.Messages, says([]turn.Role{turn.User, turn.Assistant}[i%2], strings.Repeat(fmt.Sprint("part ", i, " "), 300)))
		}
		a := s.Find(tr, nil, time.Unix(1000, 0))
		b, err := a.Build(Asked{Model: m, Turn: tr})
		if err != nil {
			t.Fatal(err)
		}
		s.Holds(a, b.Bytes)
		return b
	}
	first := ask("0", 5)
	for i := range 20 {
		ask(fmt.Sprint(i), 5)
	}
	awake := s.awake.Len()
	if awake == 0 || awake > 10 || s.stirred > 100_000 || s.Stats().Agents != 20 {
		t.Errorf("%d of %d agents are awake and hold %d bytes", awake, s.Stats().Agents, s.stirred)
	}
	if all := s.Stats().Bytes; all > 20*first.Bytes*2/3 || all < s.stirred {
		t.Errorf("all hold %d bytes, one that is awake %d", all, first.Bytes)
	}
	if b := ask("0", 7); b.Same < first.IDs.Len()-len(first.Opening) || b.Bytes < first.Bytes {
		t.Errorf("%d of %d ids are the same; it holds %d bytes, before %d", b.Same, first.IDs.Len(), b.Bytes, first.Bytes)
	}
	for i := range 20 {
		s.Forget(fmt.Sprint(i))
	}
	if s.awake.Len() != 0 || s.stirred != 0 || s.bytes != 0 {
		t.Errorf("nobody is there: %d awake, %d and %d bytes", s.awake.Len(), s.stirred, s.bytes)
	}
}

// TestToolsAreNotCopied: agents whose turns came with one list hold it once, and
// what is given to a turn without tools asks for no lease.
func TestToolsAreNotCopied(t *testing.T) {
	var a, b Agent
	list := []turn.Tool{{Name: "look", Description: "Looks.", Schema: []byte(`{"type":"object"}`), Lease: time.Minute}}
	a.remember(list, nil)
	b.remember(list, nil)
	if &a.tools[0] != &list[0] || &b.tools[0] != &list[0] || a.toolBytes < len("lookLooks.") {
		t.Error("the list is there twice")
	}
	b.remember([]turn.Tool{{Name: "look", Description: "Looks."}}, nil)
	if len(b.tools[0].Schema) != 0 || a.former()[0].Lease != 0 || list[0].Lease == 0 {
		t.Errorf("%+v and %+v", a.former(), b.former())
	}
}

// TestManyForks: one question after another at the same place of a long
// conversation, as when a user edits it again and again: each goes on from the
// prompt of the one before, and the first agent is still good.
func TestManyForks(t *testing.T) {
	m := simModel(t)
	s := New(Limits{})
	ask := func(last string) (*Agent, Built) {
		tr := &turn.Turn{Model: "m"}
		for i := range 9 {
			tr.Messages = append(tr.Messages, says([]turn.Role{turn.User, turn.Assistant}[i%2], fmt.Sprint("part ", i)))
		}
		tr.Messages[8] = says(turn.User, last)
		rolling := prompt.Rolling(nil, tr)
		a := s.Find(tr, rolling, time.Unix(1000, 0))
		b, err := a.Build(Asked{Model: m, Turn: tr, Known: &prompt.Hashes{Keys: prompt.Keys(nil, tr), Rolling: rolling}})
		if err != nil {
			t.Fatal(err)
		}
		s.Said(a, rolling, Exact{}, 0)
		return a, b
	}
	lead, first := ask("first")
	for i := range 5 {
		a, b := ask(fmt.Sprint("edited ", i))
		if b.Left == nil || b.Left.Held() >= b.Bytes {
			t.Fatalf("edit %d: nobody's prompt was taken over", i)
		}
		if a == lead || lead.heir.Load() != a || b.Same < first.IDs.Len()*3/4 {
			t.Fatalf("edit %d: the lead's prompt is not with it, or only %d of %d ids are the same", i, b.Same, b.IDs.Len())
		}
	}
	if a, b := ask("first"); a != lead || lead.heir.Load() != nil || !slices.Equal(b.IDs.Flat(), first.IDs.Flat()) {
		t.Error("the lead does not go on")
	}
}

// TestFork: a headerless client that leaves its line goes on in an agent of
// its own, which has what the first one had.
func TestFork(t *testing.T) {
	m := simModel(t)
	s := New(Limits{})
	now := time.Unix(1000, 0)
	turnOf := func(texts ...string) (*Agent, Built) {
		tr := &turn.Turn{Model: "m"}
		for i, s := range texts {
			tr.Messages = append(tr.Messages, says([]turn.Role{turn.User, turn.Assistant}[i%2], strings.Repeat(s+" ", 40)))
		}
		rolling := prompt.Rolling(nil, tr)
		a := s.Find(tr, rolling, now)
		b, err := a.Build(Asked{Model: m, Turn: tr, Known: &prompt.Hashes{Keys: prompt.Keys(nil, tr), Rolling: rolling}, Blocks: []int{16}, Seed: cache.Seed})
		if err != nil {
			t.Fatal(err)
		}
		s.Holds(a, b.Bytes)
		s.Said(a, b.Rolling, Exact{}, 0)
		return a, b
	}
	a, first := turnOf("one", "two", "three", "four", "five")
	b, other := turnOf("one", "two", "another")
	if a == b || b.Who.Parent != "main" {
		t.Fatalf("%+v and %+v", a.Who, b.Who)
	}
	if other.Same == 0 || !slices.Equal(other.IDs.Flat()[:other.Same], first.IDs.Flat()[:other.Same]) {
		t.Errorf("%d ids of the fork are inherited", other.Same)
	}
	if got := s.Stats(); got.Agents != 2 || got.Bytes < first.Bytes+other.Bytes {
		t.Errorf("%+v, the agents hold %d and %d", got, first.Bytes, other.Bytes)
	}
}

// TestDroppedWhileBuilt: an agent that is dropped while its turn is built
// leaves nothing behind that is not counted.
func TestDroppedWhileBuilt(t *testing.T) {
	m := simModel(t)
	s := New(Limits{})
	tr := &turn.Turn{Model: "m", Messages: []turn.Message{says(turn.User, "hi")}}
	a := s.Find(tr, prompt.Rolling(nil, tr), time.Unix(1000, 0))
	b, err := a.Build(Asked{Model: m, Turn: tr, Seed: cache.Seed, Blocks: []int{4}})
	if err != nil {
		t.Fatal(err)
	}
	a.turn.Lock()
	s.Forget(a.Who.Session)
	a.turn.Unlock()
	if s.Holds(a, b.Bytes); a.state.Len() != 0 || a.chains != nil || s.Stats().Bytes != 0 {
		t.Errorf("%d ids are left, %+v", a.state.Len(), s.Stats())
	}
}
