package shape

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	named    = regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9_]*`)
	declared = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9_]*)\(`)
)

// A test that a page names as what holds something is there.
func TestDocsNameTests(t *testing.T) {
	there := map[string]bool{}
	for _, f := range files(t) {
		for _, m := range declared.FindAllSubmatch(f.text, -1) {
			there[string(m[1])] = true
		}
	}
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			if !there[name] {
				t.Errorf("%s names %s, which is not there", filepath.Base(page), name)
			}
		}
	}
}
