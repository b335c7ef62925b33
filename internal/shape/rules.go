package shape

import (
	"fmt"
	"strings"
)

// floors are the rooms, by their folder; the longest that fits counts.
var floors = map[string]int{
	"cmd/dyn": 5,
	"tui":     4, "replay": 4,
	"server": 3,
	"route":  2, "engine": 2,
	"cache": 1, "prompt": 1, "parsers": 1, "recipes": 1, "ledger": 1,
	"turn": 0, "prompt/jinja": 0, "prompt/bpe": 0, "ledger/snapshot": 0,
}

// beside are folders that are no rooms: tests of the house and what they need, and programs that
// try it from outside.
var beside = []string{"internal/shape", "internal/fixtures", "internal/cable", "internal/wall", "scripts"}

// fences are libraries that one room only may know; inside lists what of the
// room is left out again.
var fences = []struct {
	library string // its import path begins so
	room    string
	not     string
}{
	{"github.com/valyala/fasthttp", "server", ""},
	{"github.com/mattn/go-sqlite3", "ledger", "ledger/snapshot"},
	{"database/sql", "ledger", "ledger/snapshot"},
	{"github.com/charmbracelet/", "tui", ""},
	{"github.com/muesli/termenv", "tui", ""},
	{"github.com/spf13/cobra", "cmd/dyn", ""},
	{"github.com/NVIDIA/go-nvml", "engine", ""},
	{"go.starlark.net", "route/script", ""},
}

// under reports whether a folder is the given one or below it.
func under(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }

// room returns the room that a folder belongs to, "" when none.
func room(dir string) string {
	best := ""
	for r := range floors {
		if under(dir, r) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

// besides reports whether a folder stands beside the rooms.
func besides(dir string) bool {
	for _, b := range beside {
		if under(dir, b) {
			return true
		}
	}
	return false
}

// floorFaults says which imports of a file climb.
func floorFaults(f file) []string {
	from := room(f.dir)
	if from == "" || f.test {
		return nil
	}
	var faults []string
	for _, imp := range f.imports {
		dir, ours := strings.CutPrefix(imp, module+"/")
		if !ours {
			if from == "turn" && strings.Contains(strings.Split(imp, "/")[0], ".") {
				faults = append(faults, fmt.Sprintf("%s: turn imports %s; it has the standard library only", f.path, imp))
			}
			continue
		}
		to := room(dir)
		switch {
		case to == from:
		case to == "":
			faults = append(faults, fmt.Sprintf("%s: imports %s, which is no room", f.path, dir))
		case floors[to] == 0 && (floors[from] > 0 || to == "turn"):
		case floors[to] >= floors[from]:
			faults = append(faults, fmt.Sprintf("%s: %s (floor %d) imports %s (floor %d)", f.path, from, floors[from], to, floors[to]))
		}
	}
	return faults
}

// fenceFaults says which libraries a file may not know.
func fenceFaults(f file) []string {
	var faults []string
	for _, imp := range f.imports {
		for _, fence := range fences {
			if !strings.HasPrefix(imp+"/", strings.TrimSuffix(fence.library, "/")+"/") {
				continue
			}
			if !under(f.dir, fence.room) || (fence.not != "" && under(f.dir, fence.not)) {
				faults = append(faults, fmt.Sprintf("%s: imports %s, which is for %s only", f.path, imp, fence.room))
			}
		}
	}
	return faults
}
