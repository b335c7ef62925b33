package conform

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// Target is a server and the adapter that drives it. The zero value of a field
// is the default.
type Target struct {
	Adapter  engine.Adapter
	Endpoint engine.Endpoint

	Lacks   map[string]string // parts of the suite that the server cannot pass, and why
	Running func() int        // answers that the server computes; the default asks its load
	Context int               // tokens that the server takes, where it does not tell
	Ends    bool              // its answers end by themselves within 400 tokens
	Slots   int               // answers that it computes at once, where it honours priorities and that is few; 0 leaves "order" out
	Seed    uint32            // of the prompts; a server that had those of a seed before has them cached
	First   uint32            // prompts are made of 1000 ids from this one on; 300
	Limit   time.Duration     // for a cancelled answer to be gone; 20 s
	Look    time.Duration     // between two looks at what runs; 20 ms
}

// Run applies the suite.
func Run(t *testing.T, target Target) {
	s := &suite{Target: target, seed: target.Seed}
	if s.First == 0 {
		s.First = 300
	}
	if s.Limit == 0 {
		s.Limit = 20 * time.Second
	}
	if s.Look == 0 {
		s.Look = 20 * time.Millisecond
	}
	s.client = s.Adapter.Open(s.Endpoint)
	t.Cleanup(s.client.Close)
	seen, err := s.client.Probe(t.Context())
	if err != nil {
		t.Fatalf("probe: %v", err)
	}
	if s.caps = seen.Caps; s.Context == 0 {
		s.Context = s.caps.Context
	}
	t.Logf("%s, seed %d: %+v", s.Adapter.Name(), s.Seed, s.caps)
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"health", s.health},
		{"probe", s.probe},
		{"nobody listens", s.nobody},
		{"wrong key", s.wrongKey},
		{"length", s.length},
		{"own end", s.ownEnd},
		{"stop string", s.stopString},
		{"stop id", s.stopID},
		{"close", s.close},
		{"cancel", s.cancel},
		{"cancel at once", s.cancelAtOnce},
		{"too long", s.tooLong},
		{"bad id", s.badID},
		{"empty answer", s.empty},
		{"cut answer", s.cut},
		{"cached", s.cached},
		{"salt", s.salt},
		{"priority", s.priority},
		{"order", s.order},
		{"form", s.form},
		{"logprobs", s.logprobs},
		{"chat", s.chat},
		{"many at once", s.many},
		{"load", s.load},
	} {
		t.Run(part.name, func(t *testing.T) {
			if why, ok := s.Lacks[part.name]; ok {
				t.Skipf("SKIPPED: %s", why)
			}
			part.run(t)
		})
	}
}

// suite is a target that was probed.
type suite struct {
	Target
	client engine.Client
	caps   turn.Capabilities
	seed   uint32
}

// prompt makes one of n ids that no prompt before began with.
func (s *suite) prompt(n int) []uint32 {
	s.seed++
	x := s.seed
	ids := make([]uint32, n)
	for i := range ids {
		x = x*1664525 + 1013904223
		ids[i] = s.First + (x>>8)%1000
	}
	return ids
}

// job is one for so many tokens exactly, at temperature zero.
func (s *suite) job(prompt []uint32, tokens int) turn.Job {
	zero := 0.0
	return turn.Job{
		ID: "t0000000000000001", Prompt: turn.IDsOf(prompt...), MaxTokens: tokens,
		Sampling: turn.Sampling{Temperature: &zero, IgnoreEnd: true},
	}
}

// answer is a stream read to its end.
type answer struct {
	text   string
	read   string // reasoning and calls, with a Chat
	ids    []uint32
	likely []turn.Logprob
	end    *turn.End
	err    error
}

// ask runs a job to its end.
func (s *suite) ask(ctx context.Context, c engine.Client, j turn.Job) (a answer) {
	stream, err := c.Generate(ctx, j)
	if err != nil {
		a.err = err
		return a
	}
	defer stream.Close()
	for {
		d, err := stream.Next()
		if err != nil {
			a.err = err
			return a
		}
		for _, e := range d.Events { // what the server has read out of its answer
			a.read += e.Text
		}
		a.text += d.Text
		a.ids = append(a.ids, d.IDs...)
		a.likely = append(a.likely, d.Logprobs...)
		if d.End != nil {
			a.end = d.End
			return a
		}
	}
}

// whole is ask for a job that must come to an end.
func (s *suite) whole(t *testing.T, j turn.Job) answer {
	t.Helper()
	a := s.ask(t.Context(), s.client, j)
	if a.err != nil {
		t.Fatalf("after %q: %v", a.text, a.err)
	}
	u := a.end.Usage
	if u.Prompt != j.Prompt.Len() || u.Output < 1 || u.Cached < 0 || u.Cached > u.Prompt {
		t.Fatalf("usage is %+v of a prompt of %d", u, j.Prompt.Len())
	}
	if s.caps.TokenIDs && u.Output != len(a.ids) {
		t.Fatalf("%d tokens are counted, %d came", u.Output, len(a.ids))
	}
	return a
}

// refused checks that a job is refused as the client's fault, in words that
// hold one of these.
func (s *suite) refused(t *testing.T, j turn.Job, words ...string) (r *turn.Refused) {
	t.Helper()
	a := s.ask(t.Context(), s.client, j)
	if !errors.As(a.err, &r) || errors.Is(a.err, turn.ErrLost) || r.Status < 400 || r.Status > 499 {
		t.Fatalf("got %q, error %v; want a refusal", a.text, a.err)
	}
	for _, w := range words {
		if strings.Contains(r.Message, w) {
			return r
		}
	}
	if len(words) > 0 {
		t.Errorf("%q tells none of %q", r.Message, words)
	}
	return r
}

// lost checks that an error sends a turn to another worker.
func lost(t *testing.T, err error) {
	t.Helper()
	var r *turn.Refused
	if !errors.Is(err, turn.ErrLost) || errors.As(err, &r) {
		t.Errorf("error is %v; want a lost worker", err)
	}
}

// running is how many answers the server computes. Of one that does not tell in
// time nothing is known.
func (s *suite) running(t *testing.T) (n int, known bool) {
	t.Helper()
	if s.Running != nil {
		return s.Running(), true
	}
	l, err := s.client.Load(t.Context())
	if err != nil {
		t.Logf("load: %v", err)
	}
	return l.Running + l.Waiting, err == nil
}

// computes is a condition for until: the server computes so many answers.
func (s *suite) computes(t *testing.T, n int) func() bool {
	return func() bool {
		now, known := s.running(t)
		return known && now == n
	}
}

// idle waits until the server computes nothing, and tells how long it took.
func (s *suite) idle(t *testing.T) time.Duration {
	t.Helper()
	return s.idleWithin(t, s.Limit)
}

func (s *suite) idleWithin(t *testing.T, limit time.Duration) time.Duration {
	t.Helper()
	from := time.Now()
	s.until(t, limit, "the server computes nothing", s.computes(t, 0))
	return time.Since(from)
}

// until looks again and again whether something is so.
func (s *suite) until(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", limit, what)
		}
		select {
		case <-time.After(s.Look):
		case <-t.Context().Done():
			t.Fatal("the test is over")
		}
	}
}
