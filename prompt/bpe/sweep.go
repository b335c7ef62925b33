package bpe

// often is how many of the pairs must have the lowest rank for a sweep to be
// cheaper than the heap: one in so many.
const often = 24

// sweeps does the lowest merge at all its places at once, again and again, as
// long as it has many places. That takes runs of blanks or dashes apart in a
// few passes. It returns the tokens left, which may have more merges.
//
// It equals one merge at a time only where no lower merge wants the token
// made, so only tame merges are done in this way.
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
		if best == none || !t.pairs.tame[best] || count*often < len(ids) {
			break
		}
		ids = t.sweep(ids, ranks, best)
	}
	return ids
}

// sweep does the merge best from left to right and returns the tokens left.
// ranks holds what find says of each token and the next, before and after.
func (t *Tokenizer) sweep(ids, ranks []uint32, best uint32) []uint32 {
	joined := t.pairs.joined[best]
	n, fresh := 0, false // tokens left so far; whether the last of them is new
	var last, right, rank uint32
	for i := 0; i < len(ids); {
		id, was := ids[i], fresh
		if fresh = i+1 < len(ids) && ranks[i] == best; fresh {
			id = joined
		}
		switch {
		case n == 0:
		case !fresh && !was:
			ranks[n-1] = ranks[i-1]
		case ids[n-1] == last && id == right && n > 1:
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
