package trtllm

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// tiers are the levels of the cache by their number.
var tiers = []string{"gpu", "host", "disk"}

// mirror is what the server is known to hold: it turns events into the words
// of the index. It has no clock and no effects.
type mirror struct {
	block  int              // tokens of a whole block; learned when it is 0
	level  map[uint64]uint8 // of each block
	window int64            // the largest window of attention seen
	next   map[int64]int64  // the event that is due, by rank
}

func newMirror(block int) *mirror {
	return &mirror{block: block, level: map[uint64]uint8{}, next: map[int64]int64{}}
}

// take reads one answer of the server, a list of events, and returns what
// changes. One that cannot be read may have held anything.
func (m *mirror) take(answer []byte) (out []turn.KVEvent) {
	list := gjson.ParseBytes(answer)
	if !remote.Valid(answer) || !list.IsArray() {
		return m.forget(nil)
	}
	for _, e := range list.Array() {
		out = m.event(out, e)
	}
	return out
}

func (m *mirror) event(out []turn.KVEvent, e gjson.Result) []turn.KVEvent {
	id, rank := e.Get("event_id"), e.Get("attention_dp_rank").Int()
	if id.Type == gjson.Number {
		due, known := m.next[rank]
		if known && id.Int() != due { // some were lost, or the server began anew
			out = m.forget(out)
		}
		m.next[rank] = id.Int() + 1
	}
	if len(m.level) > maxLevels || len(m.next) > maxRanks { // no cache has so many
		out = m.forget(out)
		clear(m.next)
	}
	if w := e.Get("window_size").Int(); w < m.window {
		return out
	} else if w > m.window {
		if m.window > 0 {
			out = m.forget(out)
		}
		m.window = w
	}
	if e.Get("layer_group_id").Int() != 0 {
		return out
	}
	data := e.Get("data")
	switch data.Get("type").Str {
	case "stored":
		return m.stored(out, data)
	case "removed":
		return m.removed(out, data)
	case "updated":
		return m.updated(out, data)
	}
	return out
}

// maxLevels and maxRanks bound what a mirror keeps.
const (
	maxLevels = 4 << 20
	maxRanks  = 1 << 10
)

// forget drops all.
func (m *mirror) forget(out []turn.KVEvent) []turn.KVEvent {
	clear(m.level)
	return append(out, turn.KVEvent{Kind: turn.KVRestart})
}

// stored tells whole blocks, those of one level together.
func (m *mirror) stored(out []turn.KVEvent, data gjson.Result) []turn.KVEvent {
	blocks := data.Get("blocks").Array()
	if m.learn(blocks) {
		out = m.forget(out)
	}
	parent := data.Get("parent_hash")
	ev := turn.KVEvent{Kind: turn.KVStored, BlockSize: m.block, Parent: hash(parent), HasParent: parent.Type == gjson.Number}
	for _, b := range blocks {
		tokens := b.Get("tokens").Array()
		images := b.Get("mm_keys").IsArray() && len(b.Get("mm_keys").Array()) > 0
		if len(tokens) != m.block || images {
			break // what follows hangs by it
		}
		h, level := hash(b.Get("block_hash")), levelOf(b.Get("cache_level"))
		if n := len(ev.Hashes); n > 0 && ev.Tier != tiers[level] {
			out = append(out, ev)
			ev = turn.KVEvent{Kind: turn.KVStored, BlockSize: m.block, Parent: ev.Hashes[n-1], HasParent: true}
		}
		ev.Tier = tiers[level]
		ev.Hashes = append(ev.Hashes, h)
		for _, t := range tokens {
			ev.Tokens = append(ev.Tokens, uint32(t.Get("token_id").Uint()))
		}
		m.level[h] = level
	}
	if len(ev.Hashes) > 0 {
		out = append(out, ev)
	}
	return out
}

// learn finds out how many tokens a whole block has, where nobody told: a
// block behind which another one lies is whole. It reports whether what was
// believed was wrong.
func (m *mirror) learn(blocks []gjson.Result) (wrong bool) {
	for i, b := range blocks {
		n := len(b.Get("tokens").Array())
		if whole := i+1 < len(blocks) || m.block == 0; whole && n > m.block {
			wrong = wrong || m.block > 0
			m.block = n
		}
	}
	return wrong
}

func (m *mirror) removed(out []turn.KVEvent, data gjson.Result) []turn.KVEvent {
	var by [3][]uint64
	for _, v := range data.Get("block_hashes").Array() {
		h := hash(v)
		if level, ok := m.level[h]; ok {
			by[level] = append(by[level], h)
			delete(m.level, h)
		}
	}
	for level, hashes := range by {
		if len(hashes) > 0 {
			out = append(out, turn.KVEvent{Kind: turn.KVRemoved, Hashes: hashes, Tier: tiers[level]})
		}
	}
	return out
}

// updated moves a block to another level; a change of its priority alone says
// nothing. The new place comes before the old one goes, so that the block is
// known throughout.
func (m *mirror) updated(out []turn.KVEvent, data gjson.Result) []turn.KVEvent {
	h := hash(data.Get("block_hash"))
	old, ok := m.level[h]
	to := data.Get("cache_level.new_value")
	if !ok || to.Type != gjson.Number || levelOf(to) == old {
		return out
	}
	m.level[h] = levelOf(to)
	return append(out,
		turn.KVEvent{Kind: turn.KVStored, Hashes: []uint64{h}, Tier: tiers[m.level[h]]},
		turn.KVEvent{Kind: turn.KVRemoved, Hashes: []uint64{h}, Tier: tiers[old]},
	)
}

// hash reads a block's hash, which builds write with or without a sign.
func hash(v gjson.Result) uint64 {
	if len(v.Raw) > 0 && v.Raw[0] == '-' {
		return uint64(v.Int())
	}
	return v.Uint()
}

// levelOf is a level; one that this version does not know is the farthest.
func levelOf(v gjson.Result) uint8 {
	return uint8(slices.Max([]int64{0, min(v.Int(), int64(len(tiers)-1))}))
}
