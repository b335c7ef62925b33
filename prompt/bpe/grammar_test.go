package bpe

import (
	"fmt"
	"math/bits"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// grammars are the scanners that have a grammar.
var grammars = map[string]splitter{
	"GPT-4":               &cl100k{table(), 1, letter},
	"GPT-4, threes":       &cl100k{table(), 3, letter},
	"GPT-4, with accents": &cl100k{table(), 1, letter | accent},
	"GPT-4o":              scanner(o200kPattern),
	"Mistral":             scanner(tekkenPattern),
	"Kimi":                scanner(kimiPattern),
	"DeepSeek":            &deepseek{table()},
}

// piecesEnd is where the scanner alone has pieces of text end.
func piecesEnd(split splitter, text string) (ends []int) {
	for i := 0; i < len(text); {
		part := text[:split.stretch(text, i)]
		for i < len(part) {
			i = split.next(part, i)
			ends = append(ends, i)
		}
	}
	return ends
}

// checkBlocks compares what the grammar finds from every piece on with the
// scanner's ends.
func checkBlocks(split splitter, text string) error {
	g, ends := grammarOf(split), piecesEnd(split, text)
	var pad window
	i := 0
	for k, end := range ends {
		b := look(windowAt(text, i, &pad))
		for starts := g.starts(&b, text, i) &^ 1; starts != 0; starts &= starts - 1 {
			if at := i + bits.TrailingZeros64(starts); k == len(ends) || at != ends[k] {
				return fmt.Errorf("%q from %d on: a piece ends at %d, want %d", text, i, at, ends[k:])
			}
			k++
		}
		i = end
	}
	return nil
}

// alphabet has characters of each kind that a pattern tells apart, the first
// of them one of each.
var alphabet = strings.Split("a|B|s|1| |\n|\t|(|'|/|é|\u017f|\u0301|漢|\x01|\r|e|r|2|\u00a0|\x7f|٣", "|")

// TestGrammarShort: every text of a few characters.
func TestGrammarShort(t *testing.T) {
	for name, split := range grammars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all func(text string, more int)
			all = func(text string, more int) {
				if err := checkBlocks(split, text+" and more"); err != nil {
					t.Fatal(err)
				}
				for _, c := range alphabet[:15] {
					if more > 0 {
						all(text+c, more-1)
					}
				}
			}
			all("", 4)
			all("it's'", 2)
		})
	}
}

// TestGrammarLong: texts of several blocks, by chance.
func TestGrammarLong(t *testing.T) {
	for name, split := range grammars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewSource(1))
			for range 3000 {
				var b strings.Builder
				kinds := alphabet[:1+r.Intn(len(alphabet))]
				for n := r.Intn(300); n > 0; n-- {
					b.WriteString(strings.Repeat(kinds[r.Intn(len(kinds))], 1+r.Intn(1+r.Intn(6))))
				}
				if err := checkBlocks(split, b.String()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func FuzzGrammar(f *testing.F) {
	f.Add("it's  12345\n\n\t(foo.Bar) == 'x' // end\n/")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		for name, split := range grammars {
			if err := checkBlocks(split, text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestWindowAtEnd(t *testing.T) {
	text := strings.Repeat("0123456789", 9)
	var pad window
	for i := range text {
		got := windowAt(text, i, &pad)
		want := append([]byte(text[i:min(i+windowSize, len(text))]), make([]byte, windowSize)...)[:windowSize]
		if !slices.Equal(got[:], want) {
			t.Errorf("at %d: got %q", i, got[:])
		}
	}
}
