package parsers

import (
	"bytes"
	"strings"
)

// Some families end the names of all their tags with a suffix that the
// vocabulary of a model says: <think:opensource>. A spec has one of them; what
// the first tag shows counts.

// maxSuffix is the longest suffix, in bytes.
const maxSuffix = 32

// learns are the beginnings of the opening tags of a spec, up to its suffix.
func (s *Spec) learns() []string {
	if s == nil || s.Suffix == "" {
		return nil
	}
	all := append(append(Marks{}, s.Section.Open...), s.Call.Open...)
	if s.Reasoning != nil {
		all = append(all, s.Reasoning.Open...)
	}
	var list []string
	for _, t := range all {
		if h, _, ok := strings.Cut(t, s.Suffix+">"); ok {
			list = append(list, h+s.Suffix[:1])
		}
	}
	return list
}

// suffixed is the spec with another suffix.
func (s *Spec) suffixed(suffix string) *Spec {
	if s == nil || s.Suffix == "" {
		return s
	}
	c := *s
	change := func(lists ...*Marks) {
		for _, m := range lists {
			changed := make(Marks, len(*m))
			for i, t := range *m {
				changed[i] = strings.ReplaceAll(t, s.Suffix, suffix)
			}
			*m = changed
		}
	}
	c.Suffix = suffix
	stop, strip := Marks(c.Tokens.Stop), Marks(c.Tokens.Strip)
	change(&c.Section.Open, &c.Section.Close, &c.Call.Open, &c.Call.NameEnd, &c.Call.Close, &c.Arg.Open, &c.Arg.Mid, &c.Arg.Close, &stop, &strip)
	c.Tokens.Stop, c.Tokens.Strip = stop, strip
	if s.Reasoning != nil {
		r := *s.Reasoning
		change(&r.Open, &r.Close)
		c.Reasoning = &r
	}
	return &c
}

// suffixed is the format with another suffix; itself where it has none, or
// that one.
func (f *Format) suffixed(suffix string) *Format {
	if suffix == "" || f.suffix == "" || suffix == f.suffix {
		return f
	}
	calling := f.calling.suffixed(suffix)
	thinking := calling
	if f.thinking != f.calling {
		thinking = f.thinking.suffixed(suffix)
	}
	return newFormat(calling, thinking)
}

// suffixAt is the suffix that a tag has whose name ends where b begins, with
// its first byte, which is there; may where the tag goes on behind b.
func suffixAt(b []byte) (string, fit) {
	n := 1
	for n < len(b) && n < maxSuffix && (isWord(b[n]) || b[n] == '-' || b[n] == '.') {
		n++
	}
	switch {
	case n == len(b) && n < maxSuffix:
		return "", may
	case n == 1 || n == len(b) || b[n] != '>':
		return "", misses
	}
	return string(b[:n]), fits
}

// suffixIn is the suffix of the last tag in the end of a prompt that opens
// something, "" where there is none.
func (f *Format) suffixIn(tail string) string {
	at := -1
	for _, h := range f.learns {
		if i := strings.LastIndex(tail, h); i >= 0 {
			at = max(at, i+len(h)-1)
		}
	}
	if at < 0 {
		return ""
	}
	suffix, _ := suffixAt([]byte(tail[at:]))
	return suffix
}

// learn looks at a tag at the beginning of what is to be read that has another
// suffix, and reads on with that. Without one it is text. false means that
// more is needed.
func (s *Stream) learn(m *mark) bool {
	suffix, f := suffixAt(s.buf[len(m.text)-1:])
	switch {
	case f == fits && suffix == s.f.suffix && s.at == atStart: // a tag that does not count there
		s.at = inText
		return true
	case f == fits && suffix != s.f.suffix:
		next := s.f.suffixed(suffix)
		s.kit, s.f = next.newKit(), next
		s.kit.tools.offer(s.offered.list)
		s.offered = s.kit.tools
		return true
	case f == may && !s.eof:
		return false
	}
	text := bytes.Clone(s.buf[:len(m.text)])
	s.skip(len(text))
	if s.at == atStart {
		s.at = inText
	}
	s.say(text)
	return true
}
