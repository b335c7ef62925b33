package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/turn"
)

func (s *suite) health(t *testing.T) {
	if err := s.client.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

// probe tells the same again.
func (s *suite) probe(t *testing.T) {
	again, err := s.client.Probe(t.Context())
	if err != nil || again.Caps != s.caps {
		t.Errorf("then it was %+v, %v", again.Caps, err)
	}
	if s.caps.Model == "" || s.caps.Engine == "" {
		t.Errorf("a name is missing")
	}
}

func (s *suite) nobody(t *testing.T) {
	free, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	at := s.Endpoint
	at.URL = fmt.Sprintf("http://127.0.0.1:%d", free)
	c := s.Adapter.Open(at)
	defer c.Close()
	lost(t, c.Health(t.Context()))
	_, err = c.Probe(t.Context())
	lost(t, err)
	_, err = c.Load(t.Context())
	lost(t, err)
	_, err = c.Generate(t.Context(), s.job(s.prompt(4), 1))
	lost(t, err)
}

// wrongKey: a key that is not taken is the worker's fault, never the turn's.
func (s *suite) wrongKey(t *testing.T) {
	if s.Endpoint.Key == "" {
		t.Skip("SKIPPED: the server asks for no key")
	}
	at := s.Endpoint
	at.Key += "x"
	c := s.Adapter.Open(at)
	defer c.Close()
	_, err := c.Probe(t.Context())
	lost(t, err)
}

func (s *suite) length(t *testing.T) {
	for _, n := range []int{1, 9} {
		j := s.job(s.prompt(20), n)
		a := s.whole(t, j)
		if a.end.Reason != turn.Cut || a.end.StopID || a.end.Usage.Output != n {
			t.Errorf("%d tokens: the end is %+v", n, a.end)
		}
		if n > 1 && a.text == "" || !utf8.ValidString(a.text) {
			t.Errorf("%d tokens: the text is %q", n, a.text)
		}
		if again := s.whole(t, j); again.text != a.text || !slices.Equal(again.ids, a.ids) {
			t.Errorf("%d tokens: first %q %v, then %q %v", n, a.text, a.ids, again.text, again.ids)
		}
	}
}

func (s *suite) ownEnd(t *testing.T) {
	if !s.Ends {
		t.Skip("SKIPPED: this model's answers may not end by themselves")
	}
	j := s.job(s.prompt(20), 400)
	j.Sampling.IgnoreEnd = false
	a := s.whole(t, j)
	if a.end.Reason != turn.Ended || a.end.Usage.Output >= 400 {
		t.Fatalf("the end is %+v", a.end)
	}
	if s.caps.TokenIDs && !a.end.StopID {
		t.Errorf("the last of %v is not told to be an end token", a.ids)
	}
	// An end token in the job's list is the same end.
	if n := len(a.ids); n > 0 {
		j.StopIDs = a.ids[n-1:]
		if b := s.whole(t, j); b.end.Reason != turn.Ended || !b.end.StopID || b.text != a.text || !slices.Equal(b.ids, a.ids) {
			t.Errorf("with its token among the stop ids: %q %v, end %+v; want %q %v", b.text, b.ids, b.end, a.text, a.ids)
		}
	}
}

func (s *suite) stopString(t *testing.T) {
	j := s.job(s.prompt(20), 48)
	all := s.whole(t, j)
	stop := middle(all.text)
	if stop == "" {
		t.Skipf("SKIPPED: no three characters of %q can be stopped at", all.text)
	}
	j.Stop = []string{"never said by anybody", stop}
	a := s.whole(t, j)
	if want := all.text[:strings.Index(all.text, stop)]; a.text != want {
		t.Errorf("stopped at %q of %q: got %q, want %q", stop, all.text, a.text, want)
	}
	if a.end.Reason != turn.Stopped || a.end.StopText != stop || a.end.StopID {
		t.Errorf("stopped at %q: the end is %+v", stop, a.end)
	}
	s.idle(t)
}

// middle returns three characters from the middle of a text that are whole.
func middle(text string) string {
	r := []rune(text)
	for i := len(r) / 3; i+3 <= len(r); i++ {
		if stop := string(r[i : i+3]); !strings.ContainsRune(stop, utf8.RuneError) && strings.TrimSpace(stop) != "" {
			return stop
		}
	}
	return ""
}

func (s *suite) stopID(t *testing.T) {
	if !s.caps.TokenIDs {
		t.Skip("SKIPPED: no ids come back")
	}
	j := s.job(s.prompt(20), 48)
	all := s.whole(t, j)
	at := slices.Index(all.ids, all.ids[len(all.ids)/2])
	j.StopIDs = []uint32{all.ids[at]}
	a := s.whole(t, j)
	if !slices.Equal(a.ids, all.ids[:at+1]) || a.end.Reason != turn.Ended || !a.end.StopID {
		t.Errorf("stopped at %d: ids %v of %v, end %+v", all.ids[at], a.ids, all.ids, a.end)
	}
	if !strings.HasPrefix(all.text, a.text) || len(a.text) == len(all.text) {
		t.Errorf("the text is %q of %q", a.text, all.text)
	}
	// The client's own stop ids count as the job's do.
	j.StopIDs, j.Sampling.StopIDs = nil, j.StopIDs
	if b := s.whole(t, j); !slices.Equal(b.ids, a.ids) {
		t.Errorf("by the client's id: %v, want %v", b.ids, a.ids)
	}
}

// long is a job that goes on for long.
func (s *suite) long() turn.Job {
	n := 2000
	if s.caps.Context > 0 {
		n = min(n, s.caps.Context/2)
	}
	return s.job(s.prompt(30), n)
}

func (s *suite) close(t *testing.T) {
	s.abort(t, func(stream turn.Stream, _ context.CancelFunc) { stream.Close() })
}

func (s *suite) cancel(t *testing.T) {
	s.abort(t, func(_ turn.Stream, cancel context.CancelFunc) { cancel() })
}

// leastLimit is how long a cancelled answer may take to be gone on any server,
// however fast. Beyond that the limit follows what the server takes for its
// work, so that a slow one is no fault.
const leastLimit = 10 * time.Second

// cancelAtOnce ends answers before they have begun, most likely: their prompts
// are long. A server may compute a prompt to its end that it has begun, but not
// the answer, which is long too.
func (s *suite) cancelAtOnce(t *testing.T) {
	const times = 3
	n, tokens := 1500, 1000
	if s.Context > 0 {
		n, tokens = min(n, s.Context/2), min(tokens, s.Context/4)
	}
	began := time.Now()
	s.whole(t, s.job(s.prompt(n), 1))
	took := time.Since(began)
	for range times {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
		a := s.ask(ctx, s.client, s.job(s.prompt(n), tokens))
		cancel()
		if a.err == nil || !errors.Is(a.err, context.DeadlineExceeded) {
			t.Errorf("got %q, error %v", a.text, a.err)
		}
	}
	free := s.idleWithin(t, leastLimit+2*times*took)
	t.Logf("a prompt of %d tokens takes %v; the server is free after %v", n, took.Round(time.Millisecond), free.Round(time.Millisecond))
	s.whole(t, s.job(s.prompt(20), 2))
}

// abort ends an answer in the middle: the server must become free, our own
// doing loses no worker, and the next answer comes as ever. One that goes on
// to its end takes as long as its tokens do; half of that is too long.
func (s *suite) abort(t *testing.T, end func(turn.Stream, context.CancelFunc)) {
	const seen = 16
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j := s.long()
	stream, err := s.client.Generate(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var began time.Time
	for range seen {
		if d, err := stream.Next(); err != nil || d.End != nil {
			t.Fatalf("delta %+v, %v", d, err)
		}
		if began.IsZero() {
			began = time.Now()
		}
	}
	all := time.Since(began) / (seen - 1) * time.Duration(j.MaxTokens)
	if s.Running != nil && s.Running() == 0 {
		t.Fatal("the server computes nothing")
	}
	end(stream, cancel)
	for err == nil { // what had been read may still be given out
		_, err = stream.Next()
	}
	if errors.Is(err, turn.ErrLost) || !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	free := s.idleWithin(t, max(leastLimit, all/2))
	t.Logf("the server is free after %v; all of the answer would have taken %v", free.Round(time.Millisecond), all.Round(time.Second))
	s.whole(t, s.job(s.prompt(20), 2))
}

// open makes a client of its own, with what a probe leaves in it.
func (s *suite) open(t *testing.T, at engine.Endpoint) engine.Client {
	t.Helper()
	c := s.Adapter.Open(at)
	t.Cleanup(c.Close)
	if _, err := c.Probe(t.Context()); err != nil {
		t.Fatalf("probe: %v", err)
	}
	return c
}
