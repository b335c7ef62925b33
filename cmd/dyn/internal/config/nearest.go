package config

import "strings"

// Nearest returns the known word that is most like the one typed, or "" when
// none is near: more than a third of the letters differ.
func Nearest(typed string, known []string) string {
	best, at := "", len(typed)/3+1
	for _, k := range known {
		if d := distance(typed, k); d <= at && (best == "" || d < at) {
			best, at = k, d
		}
	}
	return best
}

// distance counts the letters to add, drop, change or swap with the next one
// to make b of a.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// section reports whether any key is in the named section.
func section(name string) bool {
	for _, s := range Settings {
		if strings.HasPrefix(s.Key, name+".") {
			return true
		}
	}
	return false
}

func sectionNames() []string {
	var names []string
	for _, s := range Settings {
		name, _, _ := strings.Cut(s.Key, ".")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

func keyNames() []string {
	names := make([]string, len(Settings))
	for i, s := range Settings {
		names[i] = s.Key
	}
	return names
}
