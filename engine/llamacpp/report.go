package llamacpp

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// The levels at which a server holds states.
const (
	slotTier = "gpu"  // in a slot, wherever the engine computes
	hostTier = "host" // saved in the machine's memory
)

// report makes KV events of what a mirror holds. A block is told when the
// first state has it and taken back when the last one goes, for each level.
// Its zero value is ready and tells nothing: nobody listens yet.
type report struct {
	blocks  map[block]int
	told    map[block]bool
	listens bool
	anew    bool // all that was told before is void
	came    []entry
	went    []entry
}

// block is a block at a level, by the hash of all up to its end.
type block struct {
	tier string
	hash uint64
}

// entry is a state at a level.
type entry struct {
	tier string
	held held
}

// add notes that a state is held at a level.
func (r *report) add(tier string, h held) {
	if r.blocks == nil {
		r.blocks = map[block]int{}
	}
	for _, hash := range h.hash {
		r.blocks[block{tier, hash}]++
	}
	if r.listens && len(h.hash) > 0 {
		r.came = append(r.came, entry{tier, h})
	}
}

// drop notes that a state is held there no more.
func (r *report) drop(tier string, h held) {
	for _, hash := range h.hash {
		b := block{tier, hash}
		if r.blocks[b]--; r.blocks[b] == 0 {
			delete(r.blocks, b)
		}
	}
	if r.listens && len(h.hash) > 0 {
		r.went = append(r.went, entry{tier, h})
	}
}

// listen begins anew for a listener who knows nothing; all is what is held.
func (r *report) listen(all []entry) {
	*r = report{blocks: r.blocks, listens: true, anew: true, told: map[block]bool{}, came: all}
}

// deaf ends the telling.
func (r *report) deaf() { *r = report{blocks: r.blocks} }

// events are the changes since the last call: what came before what went, so
// that a state that moves to another level is never nowhere.
func (r *report) events() []turn.KVEvent {
	var out []turn.KVEvent
	if r.anew {
		out, r.anew = append(out, turn.KVEvent{Kind: turn.KVRestart}), false
	}
	for _, e := range r.came {
		out = append(out, r.stored(e)...)
	}
	for _, e := range r.went {
		if ev, ok := r.removed(e); ok {
			out = append(out, ev)
		}
	}
	r.came, r.went = nil, nil
	return out
}

// stored tells the blocks of a state that are held and were not told.
func (r *report) stored(e entry) (out []turn.KVEvent) {
	news := func(hash uint64) bool {
		b := block{e.tier, hash}
		return r.blocks[b] > 0 && !r.told[b]
	}
	hash := e.held.hash
	for i := 0; i < len(hash); i++ {
		if !news(hash[i]) {
			continue
		}
		from := i
		for ; i < len(hash) && news(hash[i]); i++ {
			r.told[block{e.tier, hash[i]}] = true
		}
		ev := turn.KVEvent{
			Kind: turn.KVStored, Hashes: hash[from:i:i], BlockSize: blockTokens, Tier: e.tier,
			Tokens: e.held.ids.AppendTo(make([]uint32, 0, (i-from)*blockTokens), from*blockTokens, i*blockTokens),
		}
		if from > 0 {
			ev.HasParent, ev.Parent = true, hash[from-1]
		} else {
			ev.Salt = e.held.salt
		}
		out = append(out, ev)
	}
	return out
}

// removed takes back the blocks of a state that were told and are held no
// more, the last one first.
func (r *report) removed(e entry) (turn.KVEvent, bool) {
	ev := turn.KVEvent{Kind: turn.KVRemoved, BlockSize: blockTokens, Tier: e.tier}
	for _, hash := range slices.Backward(e.held.hash) {
		b := block{e.tier, hash}
		if r.told[b] && r.blocks[b] == 0 {
			delete(r.told, b)
			ev.Hashes = append(ev.Hashes, hash)
		}
	}
	return ev, len(ev.Hashes) > 0
}
