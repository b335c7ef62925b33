package page

import (
	"fmt"
	"os"
	"strings"
)

// marks are those between which the part of that name stands.
func marks(name string) (begin, end string) {
	return "<!-- " + name + ": begin -->", "<!-- " + name + ": end -->"
}

// Put puts text into the part of that name, in place of what is there.
func Put(path, name, text string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := marks(name)
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for the part: %s … %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+"\n\n"+strings.TrimSpace(text)+"\n\n"+end+tail), 0o644)
}

// Keep writes a document that has places for parts of those names, each with
// what the file before had there.
func Keep(path, doc string, names ...string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, name := range names {
		begin, end := marks(name)
		_, rest, _ := strings.Cut(string(old), begin)
		if part, _, ok := strings.Cut(rest, end); ok {
			head, rest, _ := strings.Cut(doc, begin)
			_, tail, _ := strings.Cut(rest, end)
			doc = head + begin + part + end + tail
		}
	}
	return os.WriteFile(path, []byte(doc), 0o644)
}

// Place is an empty part.
func Place(name string) string {
	begin, end := marks(name)
	return begin + "\n\n`" + name + "` writes this part; it has not run yet.\n\n" + end
}
