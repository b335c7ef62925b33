package bpe

// often is how many of the pairs must have the lowest rank for a sweep to be
// cheaper than the tree: one in so many.
const often = 24

// sweeps does the lowest merge at all its places at once, again and again, as
// long as it has many places. That takes runs of blanks or dashes apart in a
// few passes. It returns the tokens left, which may have more merges.
//
// It equals one merge at a time only where no pair comes up on the way that
// is due before the merge itself, so that is looked at first.
func (t *Tokenizer) sweeps(ids, ranks []uint32) []uint32 {
	for len(ids) > 1 {
		best, count := none, 0
		for _, r := range ranks[:len(ids)-1] {
			if r < best {
				best, count = r, 0
			}
			if r == best {
				count++
			}
		}
		if best == none || count*often < len(ids) || !t.pairs.tame[best] && !t.pairs.calm(ids, ranks, best) {
			break
		}
		ids = t.sweep(ids, ranks, best)
	}
	return ids
}

// calm says whether doing the merge best from left to right makes no pair, not
// even for a moment, that is due before it.
func (p *pairs) calm(ids, ranks []uint32, best uint32) bool {
	joined := p.joined[best]
	left, right := uint32(maxID), uint32(0) // the pair looked at last; maxID is no id
	due := func(l, r uint32) bool {
		if l == left && r == right {
			return false
		}
		left, right = l, r
		return p.find(l, r) < best
	}
	end := 0 // of the last place
	for i := 0; i+1 < len(ids); i++ {
		if ranks[i] != best {
			continue
		}
		before := joined
		if i > end {
			before = ids[max(i-1, 0)]
		}
		if i > 0 && due(before, joined) || i+2 < len(ids) && due(joined, ids[i+2]) {
			return false
		}
		i++
		end = i + 1
	}
	return true
}

// sweep does the merge best from left to right and returns the tokens left.
// ranks holds what find says of each token and the next, before and after.
func (t *Tokenizer) sweep(ids, ranks []uint32, best uint32) []uint32 {
	joined := t.pairs.joined[best]
	n, fresh := 0, false                                // tokens left so far; whether the last of them is new
	last, right, rank := uint32(maxID), uint32(0), none // the pair looked up last; maxID is no id
	for i := 0; i < len(ids); {
		id, was := ids[i], fresh
		if fresh = i+1 < len(ids) && ranks[i] == best; fresh {
			id = joined
		}
		switch {
		case n == 0:
		case !fresh && !was:
			ranks[n-1] = ranks[i-1]
		case ids[n-1] == last && id == right:
			ranks[n-1] = rank // the same pair again, as in every run
		default:
			last, right = ids[n-1], id
			rank = t.pairs.find(last, right)
			ranks[n-1] = rank
		}
		ids[n] = id
		n++
		if i++; fresh {
			i++
		}
	}
	return ids[:n]
}
