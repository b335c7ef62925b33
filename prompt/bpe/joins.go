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
	words  *words
	pieces *pieces
	list   []join
	left   []byte // spelled left half, then the whole token
}

// readMerges makes the table of pairs.
func (f *file) readMerges(t *Tokenizer) error {
	if f.merges == nil {
		return errors.New("none in the file")
	}
	j := joins{cursor: cursor{data: f.merges}, words: &f.words, pieces: t.pieces}
	if err := j.array(j.one); err != nil {
		return err
	}
	return t.join(j.list)
}

// join takes the merges, in the order of rank.
func (t *Tokenizer) join(merges []join) error {
	if len(merges) > maxMerges {
		return fmt.Errorf("%d of them, above the limit of %d", len(merges), maxMerges)
	}
	t.pairs = newPairs(merges, &t.bytes)
	if !t.sentence {
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
		return fmt.Errorf("merge %d: %q is not two tokens", len(j.list), clip(string(both)))
	}
	if j.left, ok = j.words.letters(j.left[:0], left); !ok {
		return j.unknown(left)
	}
	return j.join(right)
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
			var ok bool
			if j.left, ok = j.words.letters(j.left[:0], half); !ok {
				return j.unknown(half)
			}
			return nil
		case 2:
			return j.join(half)
		}
		return nil
	})
	if err == nil && n != 2 {
		return fmt.Errorf("merge %d: %d tokens", len(j.list), n)
	}
	return err
}

// join enters the merge of the left half with right.
func (j *joins) join(right []byte) error {
	n := len(j.left)
	whole, ok := j.words.letters(j.left, right)
	if !ok || n == 0 || len(whole) == n {
		return j.unknown(right)
	}
	j.left = whole
	a, b, ab := j.pieces.find(string(whole[:n])), j.pieces.find(string(whole[n:])), j.pieces.find(string(whole))
	if a == nil || b == nil || ab == nil {
		return j.unknown(right)
	}
	j.list = append(j.list, join{a.id, b.id, ab.id, uint32(len(j.list))})
	return nil
}

// unknown reports a merge whose tokens the vocabulary does not have.
func (j *joins) unknown(half []byte) error {
	return fmt.Errorf("merge %d: %q or what it joins to is not in the vocabulary", len(j.list), clip(string(half)))
}

// findWhole marks the tokens that a piece of the same spelling becomes. With
// ignore_merges these are all; without, the ones whose own merges lead back to
// them, which is nearly all. It is half of the work of loading, so it is
// shared among the processors.
func (f *file) findWhole(t *Tokenizer) {
	slots := t.pieces.slots
	var group sync.WaitGroup
	for part := range slices.Chunk(slots, len(slots)/min(runtime.GOMAXPROCS(0), 8, len(slots))) {
		group.Go(func() { f.markWhole(t, part) })
	}
	group.Wait()
}

// markWhole does that for a part of the slots.
func (f *file) markWhole(t *Tokenizer, slots []pieceSlot) {
	var w work
	var ids []uint32
	for i := range slots {
		e := &slots[i]
		if e.n == 0 {
			continue
		}
		if !f.model.IgnoreMerges {
			ids = t.merge(ids[:0], &w, t.pieces.spell(e.id))
		}
		e.whole = f.model.IgnoreMerges || len(ids) == 1 && ids[0] == e.id
	}
}
