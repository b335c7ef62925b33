package shape

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFaultsPage: the tests that docs/faults.md names exist in the folders
// that it says.
func TestFaultsPage(t *testing.T) {
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(top, "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{}
	for _, f := range files(t) {
		if f.test {
			tests[f.dir] += string(f.text)
		}
	}
	named, n := regexp.MustCompile("(?:([a-z/]+) )?`(Test[A-Za-z]+)`"), 0
	for row := range strings.Lines(string(page)) {
		if !strings.HasPrefix(row, "| ") {
			continue
		}
		dir := ""
		for _, m := range named.FindAllStringSubmatch(row, -1) {
			if m[1] != "" {
				dir = m[1]
			}
			if n++; !strings.Contains(tests[dir], "\nfunc "+m[2]+"(") {
				t.Errorf("docs/faults.md: %s has no %s", dir, m[2])
			}
		}
	}
	if n < 20 {
		t.Errorf("docs/faults.md names %d tests", n)
	}
}
