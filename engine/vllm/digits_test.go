package vllm

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestIDs(t *testing.T) {
	edges := []uint32{0, 9, 10, 99, 100, 999, 1000, 1001, 9999, 10_000, 100_000, 999_999, 1_000_000, 1<<32 - 1}
	check := func(t interface{ Fatalf(string, ...any) }, ids []uint32) {
		want, err := json.Marshal(ids)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if got := appendIDs([]byte("x"), ids); string(got) != "x"+string(want) {
			t.Fatalf("got %s, want x%s", got, want)
		}
	}
	check(t, []uint32{})
	check(t, edges)
	for n := range uint32(100_000) { // every one of them in every place of a row
		if got, want := appendIDs(nil, []uint32{n})[1:], appendUint(n); string(got) != want+"]" {
			t.Fatalf("%d is written %s", n, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOfN(rapid.Uint32Max(1<<rapid.IntRange(1, 31).Draw(t, "bits")), 0, 2000).
			Filter(func(ids []uint32) bool { return ids != nil }).Draw(t, "ids"))
	})
}

func appendUint(n uint32) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// promptOf is a prompt of n ids, spread over a vocabulary as text's are.
func promptOf(n int) []uint32 {
	ids := make([]uint32, n)
	x := uint32(1)
	for i := range ids {
		x = x*1664525 + 1013904223
		ids[i] = x >> 8 % 151_000
	}
	return slices.Clip(ids)
}

func BenchmarkIDs(b *testing.B) {
	ids := promptOf(60_000)
	buf := make([]byte, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		buf = appendIDs(buf[:0], ids)
	}
}
