package conform

import (
	"strconv"
	"testing"
)

// tooLong: a prompt beyond the context is refused, and the words tell its
// length or the limit, from which clients learn what to do.
func (s *suite) tooLong(t *testing.T) {
	if s.Context == 0 {
		t.Skip("SKIPPED: the context is not known")
	}
	n := s.Context + 10
	r := s.refused(t, s.job(s.prompt(n), 4), strconv.Itoa(n), strconv.Itoa(s.Context))
	if r.Prompt != n || r.Limit < s.Context-1 || r.Limit > s.Context {
		t.Errorf("it is told as a prompt of %d tokens, at most %d; want %d and %d", r.Prompt, r.Limit, n, s.Context-1)
	}
	if r := s.refused(t, s.job([]uint32{s.First, 1 << 30}, 4)); r.Prompt != 0 || r.Limit != 0 {
		t.Errorf("a bad id is told as a prompt of %d tokens, at most %d", r.Prompt, r.Limit)
	}
}

func (s *suite) badID(t *testing.T) {
	prompt := s.prompt(20)
	prompt[10] = 1 << 30
	s.refused(t, s.job(prompt, 4))
	s.whole(t, s.job(s.prompt(20), 2)) // and the server lives
}

// empty: a 200 without a token, as a draining server gives, is a lost worker.
func (s *suite) empty(t *testing.T) {
	p := startProxy(t, s.Endpoint.URL)
	at := s.Endpoint
	at.URL = p.url
	c := s.open(t, at)
	p.empty.Store(true)
	a := s.ask(t.Context(), c, s.job(s.prompt(20), 4))
	lost(t, a.err)
	if a.text != "" || len(a.ids) > 0 {
		t.Errorf("got %q %v", a.text, a.ids)
	}
}

// cut: a connection that ends in mid-stream is a lost worker, and what came
// before is real.
func (s *suite) cut(t *testing.T) {
	p := startProxy(t, s.Endpoint.URL)
	at := s.Endpoint
	at.URL = p.url
	c := s.open(t, at)
	j := s.long()
	want := s.job(j.Prompt.Flat(), 200)
	all := s.whole(t, want)
	p.cut.Store(true)
	a := s.ask(t.Context(), c, j)
	lost(t, a.err)
	if len(a.ids) > len(all.ids) || len(a.text) > len(all.text) || a.text != all.text[:len(a.text)] {
		t.Errorf("got %q of %q", a.text, all.text)
	}
	if len(a.ids) == 0 && a.text == "" {
		t.Error("what came before the cut is lost")
	}
	s.idle(t)
}
