package shape

import (
	"regexp"
	"strings"
	"testing"
)

// onlyWall finds what makes a time one of the clock on the wall alone, or an
// other such time.
var onlyWall = regexp.MustCompile(`\.(UTC|Local)\(\)|\.Round\(0\)|time\.(Unix|UnixMilli|UnixMicro|Parse|ParseInLocation|Date)\(`)

// forPeople are the files of the rooms that decide by times in which it is
// done all the same, and why nothing is decided by it.
var forPeople = map[string]string{
	"server/dialect/models.go": "a model's date as clients see it",
	"server/plain.go":          "the Date of an answer",
	"engine/install/":          "dates of files and of what was installed, which other processes wrote",
	"engine/exchange/conn.go":  "a deadline that has passed, whatever the time is",
}

// TestClock: rooms that decide by differences of times keep times whole, as
// time.Now gives them: those of the clock on the wall alone jump with it.
func TestClock(t *testing.T) {
	used := map[string]bool{}
	for _, f := range files(t) {
		if r := room(f.dir); f.test || f.made || r != "server" && r != "route" && r != "cache" && r != "engine" && r != "turn" {
			continue
		}
		for i, line := range strings.Split(string(f.text), "\n") {
			m := onlyWall.FindString(line)
			if m == "" || strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			why := ""
			for file := range forPeople {
				if strings.HasPrefix(f.path, file) {
					why, used[file] = forPeople[file], true
				}
			}
			if why == "" {
				t.Errorf("%s:%d: %s makes a time that jumps with the clock on the wall", f.path, i+1, m)
			}
		}
	}
	for file, why := range forPeople {
		if !used[file] {
			t.Errorf("%s need not be let off (%s)", file, why)
		}
	}
}
