package bpe

import "math/bits"

// grammar is what the split patterns differ in where the text is ASCII. It
// finds where pieces begin in 64 bytes at a time: a scanner that looks at one
// character after the other cannot know what comes, and neither can the
// processor. All patterns with a grammar have in common that
//
//   - a word takes one sign or blank before it, but no sign of several, and
//     none that a space takes,
//   - signs take a space before them, and the line ends after them,
//   - blanks end with their last line end; of the rest the last one begins
//     what follows.
type grammar struct {
	threes   bool // digits come in threes, not each alone
	capitals bool // a capital after a small letter begins a word
	slash    bool // signs take slashes with the line ends after them
	stages   bool // digits are cut out first, so blanks before them are at an end
	suffix   suffix
}

// suffix says what becomes of 's, 't, 're, 've, 'm, 'll and 'd.
type suffix uint8

const (
	noSuffix suffix = iota
	itself          // a piece, where one begins
	joined          // the end of the word before
)

// starts returns where pieces begin in the block at s[i], as bits, given that
// one begins at s[i]. It knows all that begin up to the last one it returns;
// where that one ends is for the next block to tell.
func (g *grammar) starts(b *block, s string, i int) uint64 {
	if b.n == 0 {
		return 1
	}
	known := ^uint64(0) >> (64 - b.n)
	blanks := b.blanks & known
	gaps := blanks &^ b.lines
	signs := known &^ (b.letters | b.digits | blanks)
	sign := signs &^ (signs<<1 | (blanks&b.fifth)<<1)
	words := b.letters &^ (b.letters<<1 | sign<<1 | gaps<<1)
	if g.capitals {
		words |= b.letters &^ b.fifth & (b.letters & b.fifth << 1)
	}
	ends := b.lines & blanks
	taken := ends & (signs << 1)
	taken = ends &^ (ends + taken) // the whole run of each: it is gone where a one was added
	last := gaps &^ (blanks >> 1)
	if g.stages {
		last &^= b.digits >> 1
	}
	starts := 1 | sign | words | last | g.numbers(b.digits) | g.blanks(blanks, gaps, taken)

	until := b.n - 1
	if blanks>>until != 0 { // who knows how the run goes on
		until = 64 - bits.LeadingZeros64(known&^blanks)
	}
	if g.slash {
		for x := sign & (taken << 1); x != 0; x &= x - 1 {
			if at := bits.TrailingZeros64(x); s[i+at] == '/' {
				until = min(until, at-1)
			}
		}
	}
	if q := b.quotes & sign; q != 0 && g.suffix != noSuffix {
		starts = g.suffixes(starts, q, b, s[i:])
	}
	return starts & (2<<until - 1)
}

// numbers returns where numbers begin.
func (g *grammar) numbers(digits uint64) (starts uint64) {
	if !g.threes {
		return digits
	}
	four := digits & (digits << 1)
	four &= four << 2
	for x := digits &^ (digits << 1); x != 0; x = x << 3 & four {
		starts |= x
	}
	return starts
}

// blanks returns where runs of blanks begin, less the line ends that signs
// have taken, and where they go on after their last line end. gaps are the
// blanks that are no line ends.
func (g *grammar) blanks(blanks, gaps, taken uint64) uint64 {
	lines := blanks &^ gaps
	first := blanks&^(blanks<<1|taken) | gaps&(taken<<1)
	after := gaps & (lines << 1) &^ first
	for more := (gaps + after) &^ gaps & lines; more != 0; more &= more - 1 {
		end := bits.TrailingZeros64(more) // of a gap, and there is a line end
		after &^= 1 << (64 - bits.LeadingZeros64(^gaps&(1<<end-1)))
	}
	return first | after
}

// suffixes corrects starts for the suffixes at the quotes q of the block that
// s begins with.
func (g *grammar) suffixes(starts, q uint64, b *block, s string) uint64 {
	end := 0 // of the last suffix
	for ; q != 0; q &= q - 1 {
		at := bits.TrailingZeros64(q)
		if g.suffix == joined && (b.letters<<1>>at&1 == 0 || at == end) {
			continue
		}
		n := contraction(s[at+1:])
		if n == 0 {
			continue
		}
		end = at + 1 + n
		if g.suffix == joined {
			starts &^= 1<<end - 1<<at
		}
		starts |= 1 << end & b.letters
	}
	return starts
}

// grammarOf returns the grammar of a scanner, nil if it has none.
func grammarOf(split splitter) *grammar {
	switch p := split.(type) {
	case *cl100k:
		return &grammar{threes: p.digits == 3, suffix: itself}
	case *o200k:
		g := &grammar{threes: p.digits == 3, capitals: true, slash: p.slash}
		if p.contractions {
			g.suffix = joined
		}
		return g
	case *deepseek:
		return &grammar{threes: true, stages: true}
	}
	return nil
}
