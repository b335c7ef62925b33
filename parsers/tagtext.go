package parsers

import "bytes"

// stream sends the text of a string as far as it is settled.
func (r *tagged) stream(b []byte, last bool) (int, progress, bool) {
	if r.args.cdata {
		return r.data(b, last)
	}
	for i := r.first.next(b, 0); i < len(b); i = r.first.next(b, i+1) {
		n, f := r.ends(b[i:], last)
		switch {
		case f == fits:
			r.json = append(appendText(r.json, b[:r.edge(b, i)]), '"')
			r.endValue()
			return i + n, more, true
		case f == may:
			i = r.edge(b, i)
			r.json = appendText(r.json, b[:i])
			return i, more, false
		case last && r.breaksOff(b[i:]):
			k := r.edge(b, i)
			r.json, r.left = appendText(r.json, b[:k]), r.left[:0]
			if i == len(b)-1 {
				r.left = append(r.left, b[k:]...)
			}
			return len(b), more, false
		}
	}
	n := r.edge(b, len(b))
	r.json = appendText(r.json, b[:n])
	if last {
		n, r.left = len(b), r.left[:0]
	}
	return n, more, false
}

// edge is where the text before i ends: before a line feed that belongs to the
// tag there.
func (r *tagged) edge(b []byte, i int) int {
	if r.spec.Arg.Newline && i > 0 && b[i-1] == '\n' {
		return i - 1
	}
	return i
}

// data sends the text of a CDATA section. It ends where its end mark stands
// before the tag that closes the value; sections in a row are one.
func (r *tagged) data(b []byte, last bool) (int, progress, bool) {
	for i := bytes.IndexByte(b, ']'); i >= 0 && i < len(b); i++ {
		n, f := literal(closeData, b[i:])
		if f == fits {
			next := b[i+n:]
			k, g := literal(openData, next)
			if g == fits {
				r.json = appendText(r.json, b[:i])
				return i + n + k, more, true
			}
			w := blank(next)
			if k, f = r.ends(next[w:], last); f == misses && last && r.breaksOff(next[w:]) {
				k, f = len(next)-w, fits
			}
			if f == fits {
				r.json = append(appendText(r.json, b[:i]), '"')
				r.endValue()
				return i + n + w + k, more, true
			}
			f = max(f, g)
		}
		if f == may && !last {
			r.json = appendText(r.json, b[:i])
			return i, more, false
		}
		if f == may {
			r.json, r.left = appendText(r.json, b[:i]), r.left[:0]
			if i == len(b)-1 {
				r.left = append(r.left, b[i:]...)
			}
			return len(b), more, false
		}
		j := bytes.IndexByte(b[i+1:], ']')
		if j < 0 {
			break
		}
		i += j
	}
	r.json = appendText(r.json, b)
	r.left = r.left[:0]
	return len(b), more, false
}
