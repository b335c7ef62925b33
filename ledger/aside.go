package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// maxAside is how many damaged files are kept; the oldest go first.
const maxAside = 4

// sideFiles are what SQLite keeps beside a database.
var sideFiles = []string{"-wal", "-shm"}

// setAside moves a damaged database and its side files out of the way and
// returns the new path. Nobody in this process may have it open.
func setAside(path string) (string, error) {
	to := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(path, to); err != nil {
		return "", fmt.Errorf("move it aside: %w", err)
	}
	for _, s := range sideFiles {
		if err := os.Rename(path+s, to+s); err != nil && !missing(err) {
			return "", fmt.Errorf("move it aside: %w", err)
		}
	}
	old, err := filepath.Glob(escape(path) + ".corrupt-*Z")
	if err != nil {
		return to, nil
	}
	sort.Strings(old)
	for len(old) > maxAside {
		for _, s := range append(sideFiles, "") {
			_ = os.Remove(old[0] + s) // best effort: it is rubbish
		}
		old = old[1:]
	}
	return to, nil
}

// escape makes a path match itself in a glob pattern.
func escape(path string) string {
	var b []byte
	for _, c := range []byte(path) {
		switch c {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return string(b)
}
