package bpe

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// joins reads the list of merges. A merge's rank is its place in the list.
type joins struct {
	cursor
	words *words
	arena []byte // the tokens that merges make
	cuts  []cut
}

// cut says where in the arena a merge's halves begin.
type cut struct{ left, right uint32 }

// readMerges makes the table of pairs.
func (f *file) readMerges(t *Tokenizer) error {
	if f.merges == nil {
		return errors.New("none in the file")
	}
	n := len(f.merges)
	j := joins{cursor: cursor{data: f.merges}, words: &f.words, arena: make([]byte, 0, n/2), cuts: make([]cut, 0, n/20)}
	if err := j.array(j.one); err != nil {
		return err
	}
	return j.enter(t)
}

// enter finds the tokens of all merges and makes the table.
func (j *joins) enter(t *Tokenizer) error {
	list := make([]join, len(j.cuts))
	bad := make([]bool, len(j.cuts))
	arena := view(j.arena)
	share(len(list), func(from, to int) {
		last := uint32(0)
		for i := from; i < to; i++ {
			c, end := j.cuts[i], len(arena)
			if i+1 < len(j.cuts) {
				end = int(j.cuts[i+1].left)
			}
			a, b := t.pieces.find(arena[c.left:c.right]), t.pieces.find(arena[c.right:end])
			ab, ok := t.pieces.near(last, arena[c.left:end])
			if bad[i] = a == nil || b == nil || !ok; !bad[i] {
				list[i] = join{a.id(), b.id(), ab, uint32(i)}
				last = ab
			}
		}
	})
	if i := slices.Index(bad, true); i >= 0 {
		j.cuts = j.cuts[:i+1]
		return j.unknown(j.arena[j.cuts[i].left:j.cuts[i].right])
	}
	return t.join(list)
}

// join takes the merges, in the order of rank.
func (t *Tokenizer) join(merges []join) error {
	if len(merges) > maxMerges {
		return tooMany()
	}
	t.pairs = newPairs(merges, &t.bytes)
	if !t.sentence {
		t.chars = newChars(t, merges)
		return nil
	}
	t.joints = newJoints()
	for _, m := range merges {
		t.joints.add(t.pieces.spell(m.left), t.pieces.spell(m.right))
	}
	t.split = t.joints
	return nil
}

// one reads a merge, "a b" or ["a","b"].
func (j *joins) one() error {
	if j.peek() == '[' {
		return j.two()
	}
	both, err := j.text()
	if err != nil {
		return err
	}
	return j.pair(both)
}

// pair enters a merge in the form "a b".
func (j *joins) pair(both []byte) error {
	left, right, ok := bytes.Cut(both, []byte{' '})
	if !ok {
		return fmt.Errorf("merge %d: %q is not two tokens", len(j.cuts)+1, clip(string(both)))
	}
	if err := j.left(left); err != nil {
		return err
	}
	return j.right(right)
}

// two reads a merge in the form of a list.
func (j *joins) two() error {
	n := 0
	err := j.array(func() error {
		half, err := j.text()
		if err != nil {
			return err
		}
		switch n++; n {
		case 1:
			return j.left(half)
		case 2:
			return j.right(half)
		}
		return nil
	})
	if err == nil && n != 2 {
		return fmt.Errorf("merge %d: %d tokens", len(j.cuts), n)
	}
	return err
}

// left begins a merge.
func (j *joins) left(half []byte) error {
	if len(j.cuts) >= maxMerges {
		return tooMany()
	}
	start := len(j.arena)
	var ok bool
	j.arena, ok = j.words.letters(j.arena, half)
	j.cuts = append(j.cuts, cut{uint32(start), uint32(len(j.arena))})
	if !ok || len(j.arena) == start {
		return j.unknown(half)
	}
	return nil
}

// right ends a merge.
func (j *joins) right(half []byte) error {
	start := len(j.arena)
	var ok bool
	if j.arena, ok = j.words.letters(j.arena, half); !ok || len(j.arena) == start {
		return j.unknown(half)
	}
	return nil
}

// unknown reports that the vocabulary does not have the tokens of the last
// merge.
func (j *joins) unknown(half []byte) error {
	return fmt.Errorf("merge %d: %q, what follows it or what both join to is not in the vocabulary", len(j.cuts), clip(string(half)))
}

// tooMany reports a list that is too long.
func tooMany() error { return fmt.Errorf("more than the limit of %d", maxMerges) }

// share calls part for parts of the numbers below n, on all processors.
func share(n int, part func(from, to int)) {
	size := n/min(runtime.GOMAXPROCS(0), 8) + 1
	var group sync.WaitGroup
	for from := 0; from < n; from += size {
		group.Go(func() { part(from, min(from+size, n)) })
	}
	group.Wait()
}
