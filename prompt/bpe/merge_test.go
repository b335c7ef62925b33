package bpe_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMergesAgainstDefinition compares both ways of merging with the rule
// itself, on random merges and pieces of all lengths.
func TestMergesAgainstDefinition(t *testing.T) {
	for seed := range int64(30) {
		r := rand.New(rand.NewSource(seed))
		merges := randomMerges(r, 60)
		tok := made{merges: merges}.read(t)
		for range 60 {
			text := randomLetters(r, 1+r.Intn(200), 4)
			want := strings.Join(byDefinition(merges, text), "|")
			for range 2 { // the second time from memory
				if got := spelled(tok, tok.Encode(nil, text)); got != want {
					t.Fatalf("seed %d, %q: got %q, want %q", seed, text, got, want)
				}
			}
		}
	}
}

// randomMerges joins tokens that earlier merges made, as trained ones do.
func randomMerges(r *rand.Rand, n int) []string {
	return mergesOf(r, n, []string{"a", "b", "c", "d"})
}

// mergesOf begins with these characters.
func mergesOf(r *rand.Rand, n int, chars []string) (merges []string) {
	tokens := slices.Clone(chars)
	for len(merges) < n {
		left, right := tokens[r.Intn(len(tokens))], tokens[r.Intn(len(tokens))]
		pair := left + " " + right
		if utf8.RuneCountInString(pair) > 12 || strings.Contains(strings.Join(merges, "\n")+"\n", pair+"\n") {
			continue
		}
		merges = append(merges, pair)
		tokens = append(tokens, left+right)
	}
	return merges
}

func randomLetters(r *rand.Rand, n, kinds int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + r.Intn(kinds))
	}
	return string(b)
}

// byDefinition does the lowest merge that fits anywhere, leftmost first, one
// at a time.
func byDefinition(merges []string, text string) []string {
	return merged(merges, strings.Split(text, ""))
}

// merged does that with any parts.
func merged(merges, parts []string) []string {
	rank := map[string]int{}
	for i, pair := range merges {
		rank[pair] = i
	}
	for {
		at, best := -1, len(merges)
		for i := 1; i < len(parts); i++ {
			if n, ok := rank[parts[i-1]+" "+parts[i]]; ok && n < best {
				at, best = i-1, n
			}
		}
		if at < 0 {
			return parts
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}

// TestMemoryIsExact: pieces that come again, and pieces that take the place
// of others in the memory, are merged as any other.
func TestMemoryIsExact(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	merges := randomMerges(r, 60)
	tok := made{merges: merges}.read(t)
	words := make([]string, 6000)
	for i := range words {
		words[i] = randomLetters(r, 1+r.Intn(40), 4)
	}
	for range 20_000 {
		word := words[r.Intn(len(words))]
		want := strings.Join(byDefinition(merges, word), "|")
		if got := spelled(tok, tok.Encode(nil, word)); got != want {
			t.Fatalf("%q: got %q, want %q", word, got, want)
		}
	}
}

// TestLongRuns: no input costs the square of its length. A megabyte of one
// piece would take minutes if any did; here it takes a moment, and what is
// left of the work memory is small.
func TestLongRuns(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	tok := made{
		merges:     append(randomMerges(r, 60), "< <", "<< <<", "\n \n"),
		normalizer: map[string]any{"type": "NFC"},
		added:      []map[string]any{{"content": "<|end|>"}, {"content": " x", "lstrip": true}},
	}.read(t)
	const n = 1 << 20
	for name, text := range map[string]string{
		"one letter":       strings.Repeat("a", n),
		"random letters":   randomLetters(r, n, 4),
		"spaces":           strings.Repeat(" ", n),
		"line ends":        strings.Repeat("\n", n),
		"blanks and lines": strings.Repeat(" \n ", n/3),
		"added beginnings": strings.Repeat("<|en", n/4),
		"signs":            strings.Repeat("<", n),
		"marks":            "a" + strings.Repeat("\u0301\u0323", n/4),
		"broken bytes":     strings.Repeat("\xf0\x9f", n/2),
	} {
		ids := tok.Encode(nil, text)
		if name == "marks" || name == "broken bytes" {
			continue
		}
		if got := string(tok.Decode(nil, ids)); got != text {
			t.Errorf("%s does not come back", name)
		}
	}
}

// BenchmarkRuns shows that the cost of a byte does not grow with the run.
func BenchmarkRuns(b *testing.B) {
	tok := qwen3(b)
	for _, n := range []int{8, 64, 65, 5000, 200_000} {
		text := strings.Repeat(randomLetters(rand.New(rand.NewSource(1)), n, 26)+" ", 1+200_000/n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var ids []uint32
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				ids = tok.Encode(ids[:0], text)
			}
		})
	}
}
