package llamacpp

import (
	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/turn"
)

// blockTokens is how many tokens a block of our events has. The server reuses
// single tokens; an index counts in blocks.
const blockTokens = 16

// held is a sequence of tokens whose KV state the server has. Its zero value
// is an empty one. What it holds is never written.
type held struct {
	ids  turn.IDs // as far as they are known
	size int      // tokens of the state, at least as many
	salt string   // of the turn that made it
	hash []uint64 // of the whole blocks of ids
}

// hold makes a held of ids, whose state has size tokens; before is one that
// may begin alike.
func hold(ids turn.IDs, size int, salt string, before held) held {
	h := held{ids: ids, size: max(size, ids.Len()), salt: salt}
	seed := cache.SaltSeed("", salt)
	if salt == before.salt {
		same := common(ids, before.ids) / blockTokens
		h.hash = append(make([]uint64, 0, ids.Len()/blockTokens), before.hash[:min(same, len(before.hash))]...)
	}
	var room []uint32
	for from := len(h.hash) * blockTokens; from+blockTokens <= ids.Len(); {
		to := min(from+stretch-from%stretch, ids.Len())
		if n := len(h.hash); n > 0 {
			seed = h.hash[n-1]
		}
		h.hash = append(h.hash, cache.Extend(nil, seed, ids.View(room, from, to), blockTokens)...)
		from = to - to%blockTokens
	}
	return h
}

// cut is what is left of a state when all behind the first n tokens is dropped.
func (h held) cut(n int) held {
	if n >= h.ids.Len() {
		return h
	}
	return held{ids: h.ids.Cut(n), size: n, salt: h.salt, hash: h.hash[:n/blockTokens]}
}

// stretch is how many ids are looked at in one go; whole blocks of them, and
// where sequences share memory, of their parts.
const stretch = 2048

// common is how many ids two sequences begin with alike.
func common(a, b turn.IDs) int {
	n := min(a.Len(), b.Len())
	var roomA, roomB []uint32
	for from := 0; from < n; from += stretch {
		to := min(from+stretch, n)
		va, vb := a.View(roomA, from, to), b.View(roomB, from, to)
		if &va[0] == &vb[0] {
			continue
		}
		for i, id := range va {
			if vb[i] != id {
				return from + i
			}
		}
	}
	return n
}
