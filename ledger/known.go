package ledger

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// knownKeys tell in which row of the file a raw turn lies, so that the file
// needs no index of keys, in which every new one would touch another page,
// and a history that nobody has seen costs no read. Until they are learned
// nobody knows. Safe for concurrent use.
type knownKeys struct {
	learned chan struct{} // closed when they were learned for the first time

	mu      sync.Mutex // guards all below
	gaveUp  bool       // nobody waits any more until they are learned
	keys    []uint64   // sorted
	rows    []int64    // of keys
	recent  map[uint64]int64
	atLearn int
}

// minRecent and recentShare say when recent keys are sorted in among the
// others: when there are so many of them, and so large a part.
const (
	minRecent   = 4096
	recentShare = 4
)

func newKnownKeys() knownKeys {
	return knownKeys{learned: make(chan struct{}), recent: map[uint64]int64{}}
}

// mix is a raw turn's key as it is known.
func (k rawKey) mix() uint64 { return k.key ^ xxh3.HashString(k.model) }

// wait waits until the keys are known, at most for limit, and not again after
// that was too short once.
func (k *knownKeys) wait(limit time.Duration) bool {
	select {
	case <-k.learned:
		return true
	default:
	}
	k.mu.Lock()
	gaveUp := k.gaveUp
	k.mu.Unlock()
	if gaveUp {
		return false
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-k.learned:
		return true
	case <-late.C:
		k.giveUp()
		return false
	}
}

// giveUp says that the keys cannot be learned now.
func (k *knownKeys) giveUp() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gaveUp = true
}

// find returns the row of a key.
func (k *knownKeys) find(key rawKey) (row int64, ok bool) {
	mixed := key.mix()
	k.mu.Lock()
	defer k.mu.Unlock()
	if row, ok = k.recent[mixed]; ok {
		return row, true
	}
	i, ok := slices.BinarySearch(k.keys, mixed)
	if !ok {
		return 0, false
	}
	return k.rows[i], true
}

// add notes where raw turns went.
func (k *knownKeys) add(all []placed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range all {
		k.recent[p.key.mix()] = p.row
	}
	if n := len(k.recent); n >= minRecent && n >= len(k.keys)/recentShare {
		k.merge()
	}
}

// bytes is about what the keys take.
func (k *knownKeys) bytes() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return int64(16*cap(k.keys) + 40*len(k.recent))
}

// merge sorts the recent keys in; mu must be held.
func (k *knownKeys) merge() {
	more := make([]uint64, 0, len(k.recent))
	for key := range k.recent {
		more = append(more, key)
	}
	slices.Sort(more)
	keys, rows := make([]uint64, 0, len(k.keys)+len(more)), make([]int64, 0, len(k.keys)+len(more))
	i := 0
	for _, key := range more {
		for ; i < len(k.keys) && k.keys[i] < key; i++ {
			keys, rows = append(keys, k.keys[i]), append(rows, k.rows[i])
		}
		if i < len(k.keys) && k.keys[i] == key {
			i++ // written again
		}
		keys, rows = append(keys, key), append(rows, k.recent[key])
	}
	k.keys, k.rows = append(keys, k.keys[i:]...), append(rows, k.rows[i:]...)
	k.recent = map[uint64]int64{}
}

// stale reports whether the keys should be learned anew: most may be of rows
// that are gone.
func (k *knownKeys) stale() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.keys)+len(k.recent) > 2*max(k.atLearn, 1<<15)
}

// keyRow is a mixed key with its row.
type keyRow struct {
	key uint64
	row int64
}

// learn takes what the file holds for all there is. Of rows with the same key
// the last one counts.
func (k *knownKeys) learn(all []keyRow) {
	slices.SortFunc(all, func(a, b keyRow) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(b.row, a.row)) })
	all = slices.CompactFunc(all, func(a, b keyRow) bool { return a.key == b.key })
	keys, rows := make([]uint64, len(all)), make([]int64, len(all))
	for i, p := range all {
		keys[i], rows[i] = p.key, p.row
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys, k.rows, k.atLearn = keys, rows, len(keys)
	k.recent = map[uint64]int64{}
	select {
	case <-k.learned:
	default:
		close(k.learned)
	}
}

// learn tells the store of raw turns what the file holds. It belongs to the
// writer's goroutine, which alone puts raw turns there.
func (s *Raw) learn(f *file) error {
	all, err := f.keys()
	if err == nil {
		s.known.learn(all)
	}
	return err
}

// keys reads the keys of all raw turns, in half of the time that rows take
// which are made for everybody.
func (f *file) keys() (all []keyRow, err error) {
	err = f.conn.Raw(func(conn any) error {
		rows, err := conn.(driver.QueryerContext).QueryContext(context.Background(), "SELECT rowid, key, model FROM raw_turns", nil)
		if err != nil {
			return err
		}
		defer rows.Close()
		values := make([]driver.Value, 3)
		for {
			err := rows.Next(values)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			row, _ := values[0].(int64)
			key, _ := values[1].(int64)
			model, _ := values[2].(string)
			all = append(all, keyRow{rawKey{model, uint64(key)}.mix(), row})
		}
	})
	return all, err
}
