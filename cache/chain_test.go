package cache

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"
)

// The form is a contract: replicas and tools compute the same hashes.
func TestExactForm(t *testing.T) {
	ids := []uint32{1, 2, 3, 70000}
	b := binary.LittleEndian.AppendUint64(nil, Seed)
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	first := xxh3.HashSeed(b, Seed)
	got := Extend(nil, SaltSeed("", ""), append(ids, 5, 6), 4)
	if len(got) != 1 || got[0] != first {
		t.Fatalf("got %x, want [%x]", got, first)
	}
	if SaltSeed("", "") != 1337 || SaltSeed("a", "bc") == SaltSeed("ab", "c") || SaltSeed("", "a") == SaltSeed("a", "") {
		t.Fatal("seeds of different models and salts must differ")
	}
}

// Any prefix of the ids gives a prefix of the hashes, and hashing may go on
// from anywhere.
func TestExtendGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.SampledFrom([]int{1, 2, 16, 300}).Draw(t, "block")
		ids := rapid.SliceOfN(rapid.Uint32(), 0, 2000).Draw(t, "ids")
		seed := rapid.Uint64().Draw(t, "seed")
		whole := Extend(nil, seed, ids, block)
		if len(whole) != len(ids)/block {
			t.Fatalf("%d hashes of %d ids in blocks of %d", len(whole), len(ids), block)
		}
		cut := rapid.IntRange(0, len(ids)).Draw(t, "cut")
		part := Extend(nil, seed, ids[:cut], block)
		if !slices.Equal(part, whole[:len(part)]) || !slices.Equal(Extend(part, seed, ids, block), whole) {
			t.Fatal("a prefix does not give a prefix")
		}
	})
}

func TestExtendOfNothing(t *testing.T) {
	if got := Extend(nil, Seed, []uint32{1, 2}, 0); got != nil {
		t.Fatalf("block 0: %v", got)
	}
}

func FuzzExtend(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(2), uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, block, cut uint8) {
		ids := make([]uint32, len(raw))
		for i, b := range raw {
			ids[i] = uint32(b)
		}
		whole := Extend(nil, Seed, ids, int(block))
		part := Extend(nil, Seed, ids[:min(int(cut), len(ids))], int(block))
		if !slices.Equal(part, whole[:len(part)]) {
			t.Fatal("a prefix does not give a prefix")
		}
	})
}
