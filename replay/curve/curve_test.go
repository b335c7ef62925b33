package curve

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/cache/policy"
	"github.com/agentinfer/dyn/replay/trace"
)

const block = 16

// drawn is a small load with everything that traces have: common beginnings,
// turns that go on, that go back, prompts that end inside of a block.
func drawn(t *rapid.T) *trace.Trace {
	tr := &trace.Trace{Name: "drawn", Block: block, Timed: true, Paused: true}
	for i := range rapid.IntRange(1, 6).Draw(t, "sessions") {
		s := trace.Session{ID: fmt.Sprint(i), At: time.Duration(rapid.IntRange(0, 400).Draw(t, "at")) * time.Second}
		had, next := 0, uint64(i+1)<<32
		for j := range rapid.IntRange(1, 8).Draw(t, "turns") {
			u := trace.Turn{At: time.Duration(j*rapid.IntRange(1, 90).Draw(t, "gap")) * time.Second, Output: rapid.IntRange(1, 5*block).Draw(t, "out")}
			if j > 0 {
				u.At = max(u.At, s.Turns[j-1].At+time.Second)
				u.Keep = had
				if rapid.IntRange(0, 3).Draw(t, "back") == 0 {
					u.Keep = rapid.IntRange(0, had).Draw(t, "keep")
				}
			} else if n := rapid.IntRange(0, 4).Draw(t, "common"); n > 0 {
				u.Runs = append(u.Runs, trace.Run{First: trace.Common, N: n})
			}
			if n := rapid.IntRange(0, 9).Draw(t, "new"); n > 0 {
				u.Runs = append(u.Runs, trace.Run{First: next, N: n})
				next += uint64(n)
			}
			had = u.Len()
			u.Prompt = max(had*block-rapid.IntRange(0, block-1).Draw(t, "short"), 1)
			s.Turns = append(s.Turns, u)
		}
		tr.Sessions = append(tr.Sessions, s)
	}
	return tr
}

// plain is the same cache block by block, without tree or runs: chains as text,
// and a list of what is held. Every turn has to fit.
type plain struct {
	held map[string]*plainBlock
	size int // blocks
}

type plainBlock struct {
	chain string
	depth int
	turn  int
}

// chains are, of each turn in order, the blocks of its prompt and of prompt and
// answer.
func chains(tr *trace.Trace, order []slot) (asked []int, all [][]string) {
	lines := map[int][]uint64{}
	fresh := 0
	for _, s := range order {
		u := &tr.Sessions[s.session].Turns[s.turn]
		line := slices.Clone(u.Contents(slices.Clone(lines[s.session])))
		lines[s.session] = line
		n := min(u.Prompt/tr.Block, len(line))
		more := (u.Prompt+u.Output-1)/tr.Block - n
		var names []string
		text := ""
		put := func(x string) {
			text += "/" + x
			names = append(names, text)
		}
		for _, c := range line[:n] {
			put(fmt.Sprint(c))
		}
		if s.turn+1 < len(tr.Sessions[s.session].Turns) && tr.Sessions[s.session].Turns[s.turn+1].Keep >= n {
			after := tr.Sessions[s.session].Turns[s.turn+1].Contents(slices.Clone(line))
			for _, c := range after[n:min(n+max(more, 0), len(after))] {
				put(fmt.Sprint(c))
			}
		} else {
			for range more {
				fresh++
				put(fmt.Sprint("f", fresh))
			}
		}
		asked, all = append(asked, n), append(all, names)
	}
	return asked, all
}

// play is the hit of a rule that says which of two blocks goes first.
func (m *plain) play(tr *trace.Trace, order []slot, first func(a, b *plainBlock, turn int) bool) (hit int) {
	asked, all := chains(tr, order)
	for i, s := range order {
		prompt := tr.Sessions[s.session].Turns[s.turn].Prompt
		chain := all[i]
		n := 0
		for n < len(chain) && m.held[chain[n]] != nil {
			n++
		}
		hit += min(n*tr.Block, asked[i]*tr.Block, prompt-1)
		for d, c := range chain {
			if m.held[c] == nil {
				m.held[c] = &plainBlock{chain: c, depth: d}
			}
			m.held[c].turn = i
		}
		for len(m.held) > m.size {
			var out *plainBlock
			for _, b := range m.held {
				if b.turn != i && (out == nil || first(b, out, i)) {
					out = b
				}
			}
			delete(m.held, out.chain)
		}
	}
	return hit
}

// LRU by runs is LRU by blocks, and Belady by runs is Belady by blocks.
func TestPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawn(t)
		o := Options{}
		o.fill(tr)
		order := schedule(tr, o)
		_, all := chains(tr, order)
		longest := 0
		for _, c := range all {
			longest = max(longest, len(c))
		}
		size := rapid.IntRange(longest, longest+40).Draw(t, "size")
		p, err := New(tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		next := func(b *plainBlock, turn int) int {
			for i := turn + 1; i < len(all); i++ {
				if b.depth < len(all[i]) && all[i][b.depth] == b.chain {
					return i
				}
			}
			return never
		}
		for name, first := range map[string]func(a, b *plainBlock, turn int) bool{
			policy.LRU: func(a, b *plainBlock, _ int) bool { return a.turn < b.turn || a.turn == b.turn && a.depth > b.depth },
			policy.Belady: func(a, b *plainBlock, turn int) bool {
				x, y := next(a, turn), next(b, turn)
				return x > y || x == y && a.depth > b.depth
			},
		} {
			want := (&plain{held: map[string]*plainBlock{}, size: size}).play(tr, order, first)
			if got := hits(t, p, name, size*block); got != want {
				t.Fatalf("%s: %d tokens found, block by block %d", name, got, want)
			}
		}
	})
}

// hits are the tokens that a policy finds, with the cache's books checked at
// every turn.
func hits(t interface {
	Helper()
	Fatalf(string, ...any)
}, p *Plan, name string, size int,
) (hit int) {
	t.Helper()
	rule, err := policy.Find(name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	c := newCache(p, rule.New(size), size)
	for i := range p.turns {
		hit += c.serve(i)
		used, leaves := 0, 0
		for at := range c.held {
			h := &c.held[at]
			used += h.tokens
			if h.leaf >= 0 {
				leaves++
			}
			if h.tokens < 0 || h.tokens > h.run.Tokens || h.run.Fixed {
				t.Fatalf("%s: turn %d: run %+v", name, i, h)
			}
			if up := p.runs[at].parent; h.tokens > 0 && up >= 0 && c.held[up].tokens < p.runs[up].tokens {
				t.Fatalf("%s: turn %d: run %d is held behind a hole", name, i, at)
			}
			if (h.leaf >= 0) != (h.tokens > 0 && h.kid < 0) {
				t.Fatalf("%s: turn %d: run %d, leaf %d of %d", name, i, at, h.leaf, leaves)
			}
		}
		if used != c.used || used > size || leaves != len(c.leaves) {
			t.Fatalf("%s: turn %d: holds %d of %d, books %d", name, i, used, size, c.used)
		}
	}
	return hit
}

// Every policy keeps the books of the cache right, nobody is above Belady, and
// where all fits everybody finds what there is.
func TestConformance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawn(t)
		p, err := New(tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		size := rapid.IntRange(2, 120).Draw(t, "size") * block
		most := hits(t, p, policy.Belady, size)
		all := hits(t, p, policy.Belady, p.Distinct)
		for _, name := range policy.Names() {
			if got := hits(t, p, name, size); got > most {
				t.Fatalf("%s finds %d tokens, Belady %d", name, got, most)
			}
			if got := hits(t, p, name, p.Distinct); name != "ttl" && got != all {
				t.Fatalf("%s finds %d of %d where all fits", name, got, all)
			}
		}
	})
}
