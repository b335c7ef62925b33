package bpe_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// TestCharactersAgainstDefinition: beginning with whole characters changes no
// token, on random merges of the bytes of characters, of which many join
// parts of them to others.
func TestCharactersAgainstDefinition(t *testing.T) {
	for seed := range int64(400) {
		r := rand.New(rand.NewSource(seed))
		var merges []string
		for _, c := range []string{"é", "ê", "漢", "漣", "字", "🙂"}[:2+r.Intn(5)] {
			for n := 2; n <= len(c) && r.Intn(8) > 0; n++ { // as training makes them
				merges = append(merges, c[:n-1]+" "+c[n-1:n])
			}
		}
		tokens := []string{"a", "\xc3", "\xa9", "\xe6", "\xbc", "\xa2", "\xe5", "\xf0"}
		seen := map[string]bool{}
		for _, m := range merges {
			seen[m] = true
		}
		for _, m := range merges {
			tokens = append(tokens, strings.Replace(m, " ", "", 1))
		}
		for range r.Intn(40) {
			left, right := tokens[r.Intn(len(tokens))], tokens[r.Intn(len(tokens))]
			if pair := left + " " + right; !seen[pair] && len(pair) < 16 {
				seen[pair] = true
				i := len(merges)
				if r.Intn(2) == 0 {
					i = r.Intn(len(merges) + 1) // due before what it takes is made
				}
				merges = append(merges[:i], append([]string{pair}, merges[i:]...)...)
				tokens = append(tokens, left+right)
			}
		}
		tok := made{merges: merges}.read(t)
		for range 20 {
			var text strings.Builder
			for range 1 + r.Intn(50) {
				text.WriteString([]string{"a", "é", "ê", "漢", "漣", "字", "🙂"}[r.Intn(7)])
			}
			for piece := range bpe.Pieces(text.String()) {
				var single []string
				for i := range len(piece) {
					single = append(single, piece[i:i+1])
				}
				want := strings.Join(merged(merges, single), "|")
				if got := spelled(tok, tok.Encode(nil, piece)); got != want {
					t.Fatalf("seed %d, %q with %q: got %q, want %q", seed, piece, merges, got, want)
				}
			}
		}
	}
}
