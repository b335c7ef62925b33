package core

import (
	"bytes"
	"unicode/utf8"
)

// text turns ids to the text of an answer, see the package comment. The
// zero value with the two stop fields set is ready.
type text struct {
	stop []string
	keep bool // the stop string stays

	held []byte // bytes that form no whole character yet
	buf  []byte // whole text; what was sent stays while a stop may begin in it
	sent int    // bytes of buf that were sent
	hold int    // characters that are held back
	near int    // bytes in which a stop may begin
}

func newText(stop []string, keep bool) text {
	t := text{stop: stop, keep: keep}
	for _, s := range stop {
		t.hold = max(t.hold, utf8.RuneCountInString(s)-1)
		t.near = max(t.near, len(s)-1)
	}
	if keep {
		t.hold = 0
	}
	return t
}

// push adds the bytes of one id and returns how many bytes of text became
// whole.
func (t *text) push(token string) int {
	t.held = append(t.held, token...)
	if r, _ := utf8.DecodeLastRune(t.held); r == utf8.RuneError {
		return 0
	}
	before := len(t.buf)
	if utf8.Valid(t.held) {
		t.buf = append(t.buf, t.held...)
	} else {
		for _, r := range string(t.held) {
			t.buf = utf8.AppendRune(t.buf, r)
		}
	}
	t.held = t.held[:0]
	return len(t.buf) - before
}

// met looks for a stop string in the last fresh bytes, cuts the text there
// and returns it, or "".
func (t *text) met(fresh int) string {
	if fresh == 0 {
		return ""
	}
	for _, s := range t.stop {
		from := max(len(t.buf)-fresh-len(s)+1, 0)
		at := bytes.Index(t.buf[from:], []byte(s))
		if at < 0 {
			continue
		}
		cut := from + at
		if t.keep {
			cut += len(s)
		}
		t.buf = t.buf[:max(cut, t.sent)]
		return s
	}
	return ""
}

// move appends the text that may go now to dst; all of it at the end.
func (t *text) move(dst []byte, end *End) []byte {
	to := len(t.buf)
	if end == nil {
		for n := t.hold; n > 0 && to > t.sent; n-- {
			_, size := utf8.DecodeLastRune(t.buf[:to])
			to -= size
		}
		to = max(to, t.sent)
	}
	dst = append(dst, t.buf[t.sent:to]...)
	t.sent = to
	if spare := min(t.sent, len(t.buf)-t.near); spare > 0 {
		t.buf = append(t.buf[:0], t.buf[spare:]...)
		t.sent -= spare
	}
	return dst
}
