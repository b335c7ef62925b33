package turn

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// spread is n ids, spread over a vocabulary as text's are.
func spread(n, seed int) []uint32 {
	ids := make([]uint32, n)
	x := uint32(seed)
	for i := range ids {
		x = x*1664525 + 1013904223
		ids[i] = x >> 8 % 151_000
	}
	return ids
}

// text is the text of a sequence as it is sent, without its last comma.
func text(s IDs) string {
	texts, n := s.Texts(nil)
	var b []byte
	for _, t := range texts {
		b = append(b, t...)
	}
	b = s.AppendText(b, n)
	return string(b[:max(len(b)-1, 0)])
}

// TestIDs makes sequences of sequences at random: each holds what a slice would,
// its text is that of JSON, and what was made stays while others go on from it.
func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, want := []IDs{{}}, [][]uint32{{}}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			which := rapid.IntRange(0, len(all)-1).Draw(t, "which")
			s, flat := all[which], slices.Clone(want[which])
			some := spread(rapid.SampledFrom([]int{0, 1, 3, 700, partIDs, 3*partIDs + 5}).Draw(t, "some"), step)
			switch rapid.IntRange(0, 4).Draw(t, "how") {
			case 0:
				n := rapid.IntRange(0, len(flat)).Draw(t, "cut")
				s, flat = s.Cut(n), flat[:n]
			case 1, 2:
				s, flat = s.Append(some), append(flat, some...)
			case 3:
				s = s.Written()
			case 4:
				if s = s.Plain(); rapid.Bool().Draw(t, "anew") {
					s, flat = IDsOf(some...), some
				}
			}
			all, want = append(all, s), append(want, flat)
		}
		for i, s := range all {
			same(t, s, want[i])
			from := rapid.IntRange(0, s.Len()).Draw(t, "from")
			to := rapid.IntRange(from, min(from+100, s.Len())).Draw(t, "to")
			part := want[i][from:to]
			if got := s.AppendTo([]uint32{7}, from, to); got[0] != 7 || !slices.Equal(got[1:], part) {
				t.Fatalf("%d to %d of %d: %v, want %v", from, to, s.Len(), got, part)
			}
			if got := s.View(nil, from, to); !slices.Equal(got, part) {
				t.Fatalf("view of %d to %d of %d: %v, want %v", from, to, s.Len(), got, part)
			}
			if got := s.Same(from, append(slices.Clone(part), 1<<30)); got != len(part) {
				t.Fatalf("%d of %d are the same", got, len(part))
			}
		}
	})
}

// same fails unless a sequence holds ids.
func same(t *rapid.T, s IDs, ids []uint32) {
	if s.Len() != len(ids) || !slices.Equal(s.Flat(), ids) {
		t.Fatalf("%d ids, want %d; or others", s.Len(), len(ids))
	}
	for i := 0; i < len(ids); i += 501 {
		if s.At(i) != ids[i] {
			t.Fatalf("id %d is %d, want %d", i, s.At(i), ids[i])
		}
	}
	b, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(s); got != string(b[1:len(b)-1]) {
		t.Fatalf("the text of %d ids is %.100s, want %.100s", len(ids), got, b)
	}
}

// TestIDsThatAreNotThere: as of a slice, nothing is made up.
func TestIDsThatAreNotThere(t *testing.T) {
	s := IDsOf(1, 2, 3).Cut(2)
	for name, f := range map[string]func(){
		"at":    func() { s.At(2) },
		"cut":   func() { s.Cut(3) },
		"below": func() { s.Cut(-1) },
		"to":    func() { s.AppendTo(nil, 1, 3) },
		"view":  func() { s.View(nil, 1, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

// TestIDsShare: to go on from a long sequence copies its end only, and a text is
// made once.
func TestIDsShare(t *testing.T) {
	s := IDsOf(spread(60_000, 1)...).Written()
	if next := s.Cut(59_900).Append(spread(300, 2)); &next.parts[3].ids[0] != &s.parts[3].ids[0] ||
		&next.Written().parts[3].text[0] != &s.parts[3].text[0] {
		t.Error("a part was made again")
	}
	some := spread(500, 3)
	if n := testing.AllocsPerRun(10, func() { s.Append(some) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
	if held, most := s.Bytes(), 60_000*11; held < 60_000*9 || held > most {
		t.Errorf("%d bytes are held, want some %d", held, most)
	}
	if held := s.Plain().Bytes(); held < 4*60_000 || held > 4*60_000+2000 {
		t.Errorf("%d bytes are held without texts", held)
	}
	if held := s.Cut(100).Bytes(); held > 30_000 {
		t.Errorf("100 ids hold %d bytes", held)
	}
}

func TestDigits(t *testing.T) {
	edges := []uint32{0, 9, 10, 99, 100, 999, 1000, 1001, 9999, 10_000, 100_000, 262_143, 262_144, 999_999, 1_000_000, 1<<32 - 1}
	check := func(t interface{ Fatalf(string, ...any) }, ids []uint32) {
		want, err := json.Marshal(ids)
		if err != nil {
			t.Fatalf("%v", err)
		}
		want = append(want[:0:0], want[1:]...)
		want[len(want)-1] = ','
		for _, table := range [][]uint64{nil, numbers()} {
			if got := appendDigits([]byte("x"), ids, table); string(got) != "x"+string(want) {
				t.Fatalf("got %s, want x%s", got, want)
			}
		}
	}
	check(t, edges)
	for n := range uint32(100_000) { // every one of them alone
		check(t, []uint32{n})
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOfN(rapid.Uint32Max(1<<rapid.IntRange(1, 31).Draw(t, "bits")), 1, 2000).Draw(t, "ids"))
	})
}

// BenchmarkText writes a prompt of 60,000 ids from nothing, and after the one
// that it goes on from.
func BenchmarkText(b *testing.B) {
	s := IDsOf(spread(60_000, 1)...)
	for name, s := range map[string]IDs{"new": s, "known": s.Cut(59_500).Written().Append(spread(500, 2))} {
		b.Run(name, func(b *testing.B) {
			buf, texts := make([]byte, 0, 1<<20), make([][]byte, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				var n int
				texts, n = s.Texts(texts[:0])
				buf = s.AppendText(buf[:0], n)
			}
		})
	}
}
