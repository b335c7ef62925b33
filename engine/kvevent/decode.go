package kvevent

import (
	"errors"
	"fmt"

	"github.com/tinylib/msgp/msgp"

	"github.com/agentinfer/dyn/turn"
)

const (
	maxEvents = 1 << 16
	maxHashes = 1 << 20
	maxTokens = 8 << 20
)

// ErrTooLarge is in the chain when a batch is over the limits.
var ErrTooLarge = errors.New("batch too large")

// Stats counts what a batch held. Stored, Removed and Cleared became events,
// the others did not.
type Stats struct {
	Stored    int
	Removed   int
	Cleared   int
	Unknown   int
	Malformed int
	Blind     int // of Malformed, those that may have told that blocks are gone
	Foreign   int
	Rank      int // data-parallel rank of the sender; 0 when unsaid
}

// Decoder reads the batches of one engine in order and remembers which of its
// cache groups are foreign, so that their removals are left out too. The zero
// value is ready. It belongs to one goroutine; a new life of the engine needs
// a new Decoder.
type Decoder struct {
	foreign map[uint64]bool // groups seen with a kind that is no prefix
	left    budget
}

// budget is what a batch may still hold.
type budget struct{ hashes, tokens int }

// Decode reads one batch without any memory of others, see Decoder.Decode.
func Decode(dst []turn.KVEvent, payload []byte) ([]turn.KVEvent, Stats, error) {
	return new(Decoder).Decode(dst, payload)
}

// Decode appends the events of one batch to dst. An error means that the
// payload is not a batch or ends early; what was read before it is returned
// with it and may be used.
func (d *Decoder) Decode(dst []turn.KVEvent, payload []byte) ([]turn.KVEvent, Stats, error) {
	var s Stats
	d.left = budget{maxHashes, maxTokens}
	events, rank, err := open(payload)
	if err != nil {
		return dst, s, fmt.Errorf("decode kv batch: %w", err)
	}
	if r, ok := number(rank); ok {
		s.Rank = int(r)
	}
	n, rest, err := msgp.ReadArrayHeaderBytes(events)
	if err != nil {
		return dst, s, fmt.Errorf("decode kv batch: events: %w", err)
	}
	if n > maxEvents {
		return dst, s, fmt.Errorf("decode kv batch: %d events: %w", n, ErrTooLarge)
	}
	for i := range n {
		after, err := skip(rest)
		if err != nil {
			return dst, s, fmt.Errorf("decode kv batch: event %d: %w", i, err)
		}
		one := rest[:len(rest)-len(after)]
		rest = after
		if dst, err = d.event(dst, one, &s); err != nil {
			return dst, s, fmt.Errorf("decode kv batch: event %d: %w", i, err)
		}
	}
	return dst, s, nil
}

// open finds the events and the rank in a batch, array or map.
func open(b []byte) (events, rank []byte, err error) {
	if msgp.NextType(b) == msgp.MapType {
		err = eachField(b, func(name string, value []byte) {
			switch name {
			case "events":
				events = value
			case "data_parallel_rank", "dp_rank", "attn_dp_rank":
				rank = value
			}
		})
		return events, rank, err
	}
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil {
		return nil, nil, err
	}
	if n < 2 {
		return nil, nil, fmt.Errorf("array of %d", n)
	}
	if b, err = skip(b); err != nil {
		return nil, nil, err
	}
	events = b
	if n > 2 {
		if rank, err = skip(b); err != nil {
			// The events may be whole up to some point; let them tell.
			return events, nil, nil
		}
	}
	return events, rank, nil
}

// event reads one event. Only a batch over its limits is an error.
func (d *Decoder) event(dst []turn.KVEvent, b []byte, s *Stats) ([]turn.KVEvent, error) {
	f, ok := fields(b)
	if !ok {
		s.Malformed++
		s.Blind++
		return dst, nil
	}
	switch f.kind {
	case "BlockStored":
		return d.stored(dst, &f, s)
	case "BlockRemoved":
		return d.removed(dst, &f, s)
	case "AllBlocksCleared":
		s.Cleared++
		return append(dst, turn.KVEvent{Kind: turn.KVCleared}), nil
	}
	s.Unknown++
	return dst, nil
}

func (d *Decoder) stored(dst []turn.KVEvent, f *raw, s *Stats) ([]turn.KVEvent, error) {
	if d.isForeign(f) {
		s.Foreign++
		return dst, nil
	}
	ev := turn.KVEvent{Kind: turn.KVStored, Tier: tier(f.medium, f.locality)}
	var ok, fits bool
	if ev.Hashes, ok, fits = d.hashes(f.hashes); !fits {
		return dst, ErrTooLarge
	}
	if ok && present(f.parent) {
		ev.Parent, ok = hash(f.parent)
		ev.HasParent = true
	}
	if ok && present(f.size) {
		var n uint64
		n, ok = number(f.size)
		ev.BlockSize = int(n)
		ok = ok && n <= maxTokens
	}
	if ok {
		if ev.Tokens, ok, fits = d.tokens(f.tokens); !fits {
			return dst, ErrTooLarge
		}
	}
	if !ok || len(ev.Hashes) == 0 || len(ev.Tokens) != len(ev.Hashes)*ev.BlockSize {
		s.Malformed++
		return dst, nil
	}
	if !salted(&ev, f) {
		s.Foreign++
	}
	if len(ev.Hashes) == 0 {
		return dst, nil
	}
	s.Stored++
	return append(dst, ev), nil
}

func (d *Decoder) removed(dst []turn.KVEvent, f *raw, s *Stats) ([]turn.KVEvent, error) {
	if g, ok := number(f.group); ok && d.foreign[g] {
		s.Foreign++
		return dst, nil
	}
	hashes, ok, fits := d.hashes(f.hashes)
	if !fits {
		return dst, ErrTooLarge
	}
	if !ok {
		s.Malformed++
		s.Blind++
		return dst, nil
	}
	if len(hashes) == 0 {
		s.Malformed++
		return dst, nil
	}
	s.Removed++
	return append(dst, turn.KVEvent{Kind: turn.KVRemoved, Hashes: hashes, Tier: tier(f.medium, f.locality)}), nil
}

// isForeign reports whether a store belongs to a LoRA adapter or to a group
// whose blocks say nothing about a prefix, and remembers the group.
func (d *Decoder) isForeign(f *raw) bool {
	if present(f.lora) || (present(f.loraName) && msgp.NextType(f.loraName) != msgp.MapType) {
		return true
	}
	switch word(f.spec) {
	case "", "full_attention", "mla_attention", "sink_full_attention":
		return false
	}
	if g, ok := number(f.group); ok && len(d.foreign) < 64 {
		if d.foreign == nil {
			d.foreign = map[uint64]bool{}
		}
		d.foreign[g] = true
	}
	return true
}
