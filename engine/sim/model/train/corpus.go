package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// kinds are the endings of the files that are read.
var kinds = []string{".go", ".md", ".yaml", ".sh", ".jinja", ".txtar"}

// read joins the text files under root, in the order of their paths. Folders
// that begin with a dot are left out.
func read(root string) (text string, files int, err error) {
	var b strings.Builder
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.Contains(kinds, filepath.Ext(path)):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b.Write(data)
		b.WriteByte('\n')
		files++
		return nil
	})
	if err != nil {
		return "", 0, fmt.Errorf("read the text: %w", err)
	}
	return b.String(), files, nil
}

// word is a piece of the text and how often it occurs.
type word struct {
	text  string
	times int
}

// count cuts the text into pieces and counts them, in the order of their
// bytes. Added tokens never reach the merges, so the text is rid of them.
func count(text string) []word {
	for _, s := range specials {
		text = strings.ReplaceAll(text, s.content, "\n")
	}
	times := map[string]int{}
	for piece := range bpe.Pieces(text) {
		times[piece]++
	}
	words := make([]word, 0, len(times))
	for t, n := range times {
		words = append(words, word{t, n})
	}
	slices.SortFunc(words, func(a, b word) int { return strings.Compare(a.text, b.text) })
	return words
}
