package page

import (
	"os"
	"path/filepath"
	"testing"
)

// A part is replaced by its command alone; other commands keep it.
func TestParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	write := func(head string) {
		t.Helper()
		if err := Keep(path, head+"\n\n"+Place("one")+"\n\nbetween\n\n"+Place("two")+"\n", "one", "two"); err != nil {
			t.Fatal(err)
		}
	}
	want := func(text string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Fatalf("got %q, %v, want %q", got, err, text)
		}
	}
	empty := func(name string) string { return "`" + name + "` writes this part; it has not run yet." }
	part := func(name, text string) string {
		return "<!-- " + name + ": begin -->\n\n" + text + "\n\n<!-- " + name + ": end -->"
	}
	write("# A")
	want("# A\n\n" + part("one", empty("one")) + "\n\nbetween\n\n" + part("two", empty("two")) + "\n")
	if err := Put(path, "two", "\nfigures\n"); err != nil {
		t.Fatal(err)
	}
	write("# B")
	want("# B\n\n" + part("one", empty("one")) + "\n\nbetween\n\n" + part("two", "figures") + "\n")
	if err := Put(path, "two", "others"); err != nil {
		t.Fatal(err)
	}
	want("# B\n\n" + part("one", empty("one")) + "\n\nbetween\n\n" + part("two", "others") + "\n")
	if Put(path, "three", "x") == nil {
		t.Error("a part without a place was put somewhere")
	}
}
