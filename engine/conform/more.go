package conform

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// blocks is a prompt of three blocks and some.
func (s *suite) blocks() []uint32 { return s.prompt(3*max(s.caps.BlockSize, 16) + 5) }

// cached: what a prompt has in common with one before is told.
func (s *suite) cached(t *testing.T) {
	if !s.caps.Cached {
		t.Skip("SKIPPED: the server does not tell cached tokens")
	}
	prompt := s.blocks()
	if a := s.whole(t, s.job(prompt, 2)); a.end.Usage.Cached != 0 {
		t.Errorf("a new prompt has %d cached tokens", a.end.Usage.Cached)
	}
	a := s.whole(t, s.job(slices.Concat(prompt, s.prompt(2)), 2))
	if least := 3 * max(s.caps.BlockSize, 1); a.end.Usage.Cached < least || a.end.Usage.Cached > len(prompt) {
		t.Errorf("of %d common tokens %d are cached, want %d at least", len(prompt), a.end.Usage.Cached, least)
	}
}

// salt: prefixes are shared within one salt only.
func (s *suite) salt(t *testing.T) {
	if !s.caps.Cached {
		t.Skip("SKIPPED: the server does not tell cached tokens")
	}
	prompt := s.blocks()
	with := func(salt string) int {
		j := s.job(prompt, 2)
		j.Salt = salt
		return s.whole(t, j).end.Usage.Cached
	}
	if with("one") != 0 || with("one") == 0 {
		t.Error("a salt does not find its own prefix")
	}
	if n := with("two") + with(""); n != 0 {
		t.Errorf("%d tokens of another salt were found", n)
	}
}

// priority: every priority is taken.
func (s *suite) priority(t *testing.T) {
	for _, p := range []int{-100, -1, 0, 1, 100} {
		j := s.job(s.prompt(20), 2)
		j.Priority = p
		s.whole(t, j)
	}
}

// order: of two turns that wait, the more important one goes first.
func (s *suite) order(t *testing.T) {
	if s.Slots == 0 {
		t.Skip("SKIPPED: priorities are not honoured, or more turns run at once than can be filled")
	}
	tokens := 20_000 // they must last until both wait
	if s.Context > 0 {
		tokens = min(tokens, s.Context-64)
	}
	var running []turn.Stream
	for range s.Slots {
		stream, err := s.client.Generate(t.Context(), s.job(s.prompt(30), tokens))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if _, err := stream.Next(); err != nil {
			t.Fatal(err)
		}
		running = append(running, stream)
	}
	done := make(chan int, 2)
	for i, p := range []int{-20, 20} {
		j := s.job(s.prompt(20), 8)
		j.Priority = p
		go func() {
			if a := s.ask(t.Context(), s.client, j); a.err != nil {
				t.Errorf("priority %d: %v", p, a.err)
			}
			done <- p
		}()
		s.until(t, s.Limit, "both wait", s.computes(t, s.Slots+i+1))
	}
	running[0].Close()
	if first := <-done; first != 20 {
		t.Errorf("priority %d went first", first)
	}
	for _, stream := range running {
		stream.Close()
	}
	<-done
	s.idle(t)
}

// form: an answer is held to a form, or the turn is refused.
func (s *suite) form(t *testing.T) {
	j := s.job(s.prompt(20), 40)
	j.Sampling.IgnoreEnd = false
	j.Format = turn.Format{Kind: turn.JSONSchema, Schema: []byte(`{"enum":["only this"]}`)}
	if !s.caps.Formats {
		s.refused(t, j)
		return
	}
	if a := s.whole(t, j); strings.TrimSpace(a.text) != `"only this"` {
		t.Errorf("got %q", a.text)
	}
}

func (s *suite) logprobs(t *testing.T) {
	if !s.caps.Logprobs {
		t.Skip("SKIPPED: the server tells no log probabilities")
	}
	for _, top := range []int{0, 2} {
		j := s.job(s.prompt(20), 4)
		j.Sampling.Logprobs, j.Sampling.TopLogprobs = true, top
		a := s.whole(t, j)
		if len(a.likely) != 4 {
			t.Errorf("%d log probabilities of 4 tokens", len(a.likely))
		}
		for _, p := range a.likely {
			if p.Value > 0 || len(p.Top) != top {
				t.Errorf("with %d alternatives: %+v", top, p)
			}
		}
	}
}

// many: answers side by side are each whole, and leave nothing behind.
func (s *suite) many(t *testing.T) {
	var all sync.WaitGroup
	for range 12 {
		j := s.job(s.prompt(25), 16)
		all.Go(func() {
			if a := s.ask(t.Context(), s.client, j); a.err != nil || a.end.Reason != turn.Cut || a.end.Usage.Output != 16 {
				t.Errorf("got %q, end %+v, error %v", a.text, a.end, a.err)
			}
		})
	}
	all.Wait()
	s.idle(t)
}

// load: what runs is told while it runs.
func (s *suite) load(t *testing.T) {
	stream, err := s.client.Generate(t.Context(), s.long())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := stream.Next(); err != nil {
		t.Fatal(err)
	}
	l, err := s.client.Load(t.Context())
	if err != nil || l.At.IsZero() || l.Running < 0 || l.Waiting < 0 || l.KVUsed < 0 || l.KVUsed > 1 {
		t.Errorf("load is %+v, %v", l, err)
	}
	stream.Close()
	s.idle(t)
}
