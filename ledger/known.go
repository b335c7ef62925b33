package ledger

import (
	"context"
	"sync"
)

// maxKnown is how many keys are remembered before the set is made anew, of
// those that are there still.
const maxKnown = 1 << 18

// knownKeys are the keys of the raw turns that may be in the file, so that a
// history which nobody has seen costs no read of it. Until they are learned
// any key may be there. The zero value is ready. Safe for concurrent use.
type knownKeys struct {
	mu      sync.Mutex // guards all below
	learned bool
	keys    map[uint64]struct{}
}

// may reports whether a key may be in the file.
func (k *knownKeys) may(key uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.keys[key]
	return ok || !k.learned
}

// add notes that a key is on its way to the file.
func (k *knownKeys) add(key uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil {
		k.keys = map[uint64]struct{}{}
	}
	k.keys[key] = struct{}{}
}

// many reports whether the set should be made anew.
func (k *knownKeys) many() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.keys) > maxKnown
}

// learn makes the set anew, of the keys in the file and those on their way.
func (k *knownKeys) learn(inFile []uint64, onTheWay func(add func(uint64))) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys, k.learned = make(map[uint64]struct{}, len(inFile)), true
	for _, key := range inFile {
		k.keys[key] = struct{}{}
	}
	onTheWay(func(key uint64) { k.keys[key] = struct{}{} })
}

// learn tells the store of raw turns what the file holds. It belongs to the
// writer's goroutine, which alone puts raw turns there: whatever is not in
// the file is still in memory.
func (s *Raw) learn(f *file) error {
	rows, err := f.conn.QueryContext(context.Background(), "SELECT key FROM raw_turns")
	if err != nil {
		return err
	}
	defer rows.Close()
	var keys []uint64
	for rows.Next() {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return err
		}
		keys = append(keys, uint64(key))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	s.known.learn(keys, func(add func(uint64)) { s.new.each(func(k rawKey) { add(k.key) }) })
	return nil
}
