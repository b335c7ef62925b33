package main

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
)

// trainer grows a vocabulary by joining the most frequent pair of tokens.
type trainer struct {
	tokens []string // by id; the first 256 are the bytes
	merges []pair   // in the order of training, which is their rank
	rarest int      // how often the last merge's pair occurred

	words []spelled
	times map[pair]int              // occurrences in all words
	in    map[pair]map[int]struct{} // words where the pair was seen
	queue queue
}

// pair is two neighbouring tokens, by id.
type pair struct{ left, right int }

// spelled is a word as the tokens that it is made of so far.
type spelled struct {
	ids   []int
	times int
}

// newTrainer returns a trainer whose vocabulary is the 256 bytes.
func newTrainer(words []word) *trainer {
	t := &trainer{times: map[pair]int{}, in: map[pair]map[int]struct{}{}}
	for b := range 256 {
		t.tokens = append(t.tokens, string([]byte{byte(b)}))
	}
	for i, w := range words {
		ids := make([]int, len(w.text))
		for k := range ids {
			ids[k] = int(w.text[k])
		}
		t.words = append(t.words, spelled{ids, w.times})
		t.note(i, 1)
	}
	t.queue.tokens = func(id int) string { return t.tokens[id] }
	for p, n := range t.times {
		t.queue.offers = append(t.queue.offers, offer{p, n})
	}
	heap.Init(&t.queue)
	return t
}

// train joins pairs until the vocabulary has size entries or no pair occurs
// twice.
func (t *trainer) train(size int) {
	for len(t.tokens) < size && t.queue.Len() > 0 {
		top := heap.Pop(&t.queue).(offer)
		now := t.times[top.pair]
		if now < top.times { // the offer is old
			if now > 1 {
				heap.Push(&t.queue, offer{top.pair, now})
			}
			continue
		}
		if now < 2 {
			return
		}
		t.rarest = now
		t.join(top.pair)
	}
}

// join makes a token of p and puts it into every word that has the pair.
func (t *trainer) join(p pair) {
	id := len(t.tokens)
	t.tokens = append(t.tokens, t.tokens[p.left]+t.tokens[p.right])
	t.merges = append(t.merges, p)
	changed := map[pair]struct{}{}
	for _, i := range slices.Sorted(maps.Keys(t.in[p])) {
		t.note(i, -1)
		w := &t.words[i]
		w.ids = joined(w.ids, p, id)
		t.note(i, 1)
		for k := 1; k < len(w.ids); k++ {
			if l, r := w.ids[k-1], w.ids[k]; l == id || r == id {
				changed[pair{l, r}] = struct{}{}
			}
		}
	}
	delete(t.in, p)
	for q := range changed {
		heap.Push(&t.queue, offer{q, t.times[q]})
	}
}

// joined puts id in place of the pair p, in ids' own memory.
func joined(ids []int, p pair, id int) []int {
	out := ids[:0]
	for k := 0; k < len(ids); k++ {
		if k+1 < len(ids) && ids[k] == p.left && ids[k+1] == p.right {
			out = append(out, id)
			k++
			continue
		}
		out = append(out, ids[k])
	}
	return out
}

// note counts the pairs of word i, sign times.
func (t *trainer) note(i, sign int) {
	w := &t.words[i]
	for k := 1; k < len(w.ids); k++ {
		p := pair{w.ids[k-1], w.ids[k]}
		t.times[p] += sign * w.times
		if t.in[p] == nil {
			t.in[p] = map[int]struct{}{}
		}
		t.in[p][i] = struct{}{}
	}
}

// offer is a pair and how often it occurred when it was offered.
type offer struct {
	pair
	times int
}

// queue holds the offers, most frequent first; between equals the bytes of
// the two tokens decide, so that the order of maps does not.
type queue struct {
	offers []offer
	tokens func(id int) string
}

func (q *queue) Len() int      { return len(q.offers) }
func (q *queue) Swap(i, j int) { q.offers[i], q.offers[j] = q.offers[j], q.offers[i] }
func (q *queue) Push(x any)    { q.offers = append(q.offers, x.(offer)) }

func (q *queue) Less(i, j int) bool {
	a, b := q.offers[i], q.offers[j]
	return cmp.Or(
		cmp.Compare(b.times, a.times),
		cmp.Compare(q.tokens(a.left), q.tokens(b.left)),
		cmp.Compare(q.tokens(a.right), q.tokens(b.right)),
	) < 0
}

func (q *queue) Pop() any {
	last := len(q.offers) - 1
	x := q.offers[last]
	q.offers = q.offers[:last]
	return x
}
