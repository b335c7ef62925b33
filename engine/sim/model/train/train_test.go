package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

func TestTrainer(t *testing.T) {
	t.Run("most frequent pair first", func(t *testing.T) {
		tr := newTrainer(count("low low low lower lowest"))
		tr.train(260)
		if got, want := strings.Join(tr.tokens[256:], "|"), "lo|low| low| lowe"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("bytes decide between equals", func(t *testing.T) {
		tr := newTrainer(count("ab cd ab cd"))
		tr.train(258)
		if got, want := strings.Join(tr.tokens[256:], "|"), " c| cd"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("overlapping pairs", func(t *testing.T) {
		tr := newTrainer(count("aaaaa aaaaa"))
		tr.train(1000)
		for _, ids := range tr.words {
			if len(ids.ids) > 2 {
				t.Errorf("a word is left in %d tokens", len(ids.ids))
			}
		}
	})
	t.Run("nothing twice", func(t *testing.T) {
		tr := newTrainer(count("abc"))
		tr.train(1000)
		if len(tr.merges) != 0 {
			t.Errorf("%d merges of pairs that occur once", len(tr.merges))
		}
	})
}

// TestCountsStayTrue: after training, the counts that were kept up to date
// are those of the words as they are now.
func TestCountsStayTrue(t *testing.T) {
	tr := newTrainer(count(sampleText(t)))
	tr.train(900)
	want := map[pair]int{}
	for _, w := range tr.words {
		for k := 1; k < len(w.ids); k++ {
			want[pair{w.ids[k-1], w.ids[k]}] += w.times
		}
	}
	for p, n := range tr.times {
		if n != want[p] {
			t.Fatalf("%q+%q: kept %d, counted %d", tr.tokens[p.left], tr.tokens[p.right], n, want[p])
		}
	}
}

// TestSameTextSameFiles: two runs write the same bytes, in the form that the
// tokenizer reads.
func TestSameTextSameFiles(t *testing.T) {
	var files [2][]byte
	for i := range files {
		tr := newTrainer(count(sampleText(t)))
		tr.train(700)
		dir := t.TempDir()
		if err := write(dir, tr); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.ReadFile(filepath.Join(dir, "tokenizer.json")); err != nil {
			t.Fatal(err)
		}
		tok, err := bpe.Read(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tok.Len(), len(tr.tokens)+len(specials); got != want {
			t.Errorf("%d tokens, want %d", got, want)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the two files differ")
	}
}

// sampleText is this folder's own text.
func sampleText(t *testing.T) string {
	t.Helper()
	text, _, err := read(".")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTooLittleText(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("few words, few words"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(io.Discard, dir, dir)
	if err == nil || !strings.Contains(err.Error(), "train on more") {
		t.Errorf("got %v, want an error that says to train on more", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tokenizer.json")); err == nil {
		t.Error("a tokenizer was written")
	}
}
