package ledger

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What nobody has kept is not looked for in the file, and what an earlier
// daemon kept is.
func TestKnownKeys(t *testing.T) {
	l, path := begin(t, quick)
	for i := range 50 {
		l.Raw().Keep(rawOf(i))
	}
	inFile(t, path, "raw_turns", 50)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = Open(path, quick)
	defer l.Close()
	<-l.raw.known.learned
	if _, ok := l.raw.known.find(rawKey{"sim", 12345}); ok {
		t.Error("a key is known that nobody kept")
	}
	l.Raw().Keep(rawOf(50))
	for i := range 51 {
		found(t, l, rawOf(i).Key)
	}
	until(t, "memory to be let go of", func() bool {
		_, ok := l.raw.new.find(rawKey{"sim", rawOf(50).Key})
		return !ok
	})
	if _, ok := l.raw.known.find(rawKey{"sim", rawOf(50).Key}); !ok {
		t.Error("what was written is not known")
	}
	if _, ok := l.raw.known.find(rawKey{"other", rawOf(50).Key}); ok {
		t.Error("it is known of another model")
	}
}

// The keys are a map, whatever was merged and learned.
func TestKnownKeysAreAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, want := newKnownKeys(), map[uint64]int64{}
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 1))
		row := int64(0)
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			var some []placed
			var all []keyRow
			for range r.IntN(3 * minRecent) {
				row++
				p := placed{rawKey{"m", r.Uint64N(20_000)}, row}
				some, all = append(some, p), append(all, keyRow{p.key.mix(), row})
			}
			if r.IntN(4) == 0 {
				k.learn(all)
				clear(want)
			} else {
				k.add(some)
			}
			for _, p := range some {
				want[p.key.key] = p.row
			}
		}
		for key := range uint64(20_000) {
			got, ok := k.find(rawKey{"m", key})
			if w, is := want[key]; is != ok || got != w {
				t.Fatalf("%d: got %d %v, want %d %v", key, got, ok, w, is)
			}
		}
	})
}

// Until the keys are learned a search waits, once; where they cannot be, not
// at all.
func TestKnownKeysAreAwaited(t *testing.T) {
	k := newKnownKeys()
	if k.wait(time.Millisecond) {
		t.Error("nobody told them")
	}
	if k.wait(time.Hour) {
		t.Error("they were told after all")
	}
	k.learn(nil)
	if !k.wait(0) {
		t.Error("they were told, and are not known")
	}
	k = newKnownKeys()
	go k.learn(nil)
	if !k.wait(time.Hour) {
		t.Error("they came, and are not known")
	}
}
