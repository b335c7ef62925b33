package jinja

// A rendering under a Memo is written over the text of the one before. As long
// as it writes what stands there it is in step and copies nothing; where it
// first differs, the rest of the old text is laid aside.

// output is the text under way.
type output struct {
	out    []byte
	base   int    // where position 0 would be in out
	last   []byte // the text before, of which out is the beginning while in step
	inStep bool
	parted int    // where it ceased to be, 0 if it never was
	tail   []byte // what last held from there on
}

// pos is where the next byte goes, counted from where the rendering began. The
// text of a captured block is counted as if it went where the block stands.
func (o *output) pos() int { return len(o.out) - o.base }

// since is what was written from a position on.
func (o *output) since(pos int) []byte { return o.out[pos+o.base:] }

// put writes a text.
func (o *output) put(s string) {
	if o.inStep {
		n := len(o.out) + len(s)
		if n <= len(o.last) && string(o.last[len(o.out):n]) == s {
			o.out = o.last[:n]
			return
		}
		o.part()
	}
	o.out = append(o.out, s...)
}

// part lays the rest of the old text aside.
func (o *output) part() {
	o.parted, o.inStep = len(o.out), false
	o.tail = append(o.tail[:0], o.last[o.parted:]...)
}

// again writes what stands in the old text at a place.
func (o *output) again(at, size int) {
	if o.inStep {
		n := len(o.out) + size
		if at == len(o.out) || n <= len(o.last) && string(o.last[len(o.out):n]) == string(o.last[at:at+size]) {
			o.out = o.last[:n]
			return
		}
		o.part()
	}
	if n := min(size, o.parted-at); n > 0 {
		o.out = append(o.out, o.last[at:at+n]...)
		at, size = at+n, size-n
	}
	if size > 0 {
		o.out = append(o.out, o.tail[at-o.parted:at-o.parted+size]...)
	}
}

// restore gives back the old text as it was.
func (o *output) restore() []byte {
	if !o.inStep {
		copy(o.last[o.parted:], o.tail)
	}
	return o.last
}

// same is how many bytes the text and the old one have in common at their
// start.
func (o *output) same() int {
	if o.inStep {
		return len(o.out)
	}
	return o.parted + common(o.out[o.parted:], o.tail)
}

// common is how many bytes two texts have in common at their start.
func common(a, b []byte) int {
	const step = 1 << 10
	n, i := min(len(a), len(b)), 0
	for i+step <= n && string(a[i:i+step]) == string(b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// aside is where the output was when a block began whose text is captured.
type aside struct {
	out    []byte
	base   int
	inStep bool
}

// divert lets what is written go elsewhere, until back.
func (r *run) divert() aside {
	a := aside{r.out, r.base, r.inStep}
	r.captured++
	if r.inStep { // what is captured must not overwrite the old text
		r.base, r.inStep = -r.pos(), false
		r.out = r.desk.side[:0]
	}
	return a
}

// back returns what was written since.
func (r *run) back(a aside) (string, error) {
	r.captured--
	from := 0
	if !a.inStep {
		from = len(a.out)
	}
	text := r.out[from:]
	if err := r.take(len(text)); err != nil {
		return "", err
	}
	s := string(text)
	if a.inStep {
		r.desk.side = r.out[:0]
		r.out, r.base, r.inStep = a.out, a.base, true
	} else {
		r.out = r.out[:from]
	}
	return s, nil
}
