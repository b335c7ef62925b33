package config

import (
	"fmt"
	"maps"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Unset takes a key out of a file, with its section where nothing else is in it.
// All else stays as it is; where the form does not let the line go, the key stays
// with null. The error wraps ErrByHand where that cannot be either.
func Unset(path, key string) error { return change(path, key, without) }

// without is a file's text without a key, checked by reading it again.
func without(path string, data []byte, s *Setting) ([]byte, error) {
	want, err := parse(path, data)
	if err != nil {
		return nil, err
	}
	if _, there := want[s.Key]; !there {
		return data, nil
	}
	delete(want, s.Key)
	section, e := lookup(data, s)
	if e == nil {
		return nil, fmt.Errorf("write %s: %w", path, ErrByHand)
	}
	for _, changed := range [][]byte{cut(data, section, e), revalue(data, e, "null")} {
		if got, err := parse(path, changed); changed != nil && err == nil && maps.Equal(got, want) {
			return changed, nil
		}
	}
	return nil, fmt.Errorf("write %s: %w", path, ErrByHand)
}

// lookup finds a setting in a file's text, by whichever key it is there, and the
// section that it is in.
func lookup(data []byte, s *Setting) (section, e *ast.MappingValueNode) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, nil
	}
	for _, doc := range file.Docs {
		for _, section := range pairs(doc.Body) {
			for _, e := range pairs(section.Value) {
				if key := keyOf(section) + "." + keyOf(e); key == s.Key || key == s.Was {
					return section, e
				}
			}
		}
	}
	return nil, nil
}

// cut takes out the line of a pair, and that of its section where it is the only
// one. What else may be in these lines is found by reading the result.
func cut(data []byte, section, e *ast.MappingValueNode) []byte {
	from, to := lineAt(e), lineAt(e)+1
	if len(pairs(section.Value)) == 1 && lineAt(section) == from-1 {
		from--
	}
	lines := strings.SplitAfter(string(data), "\n")
	if lineAt(section) == lineAt(e) || from < 1 || to > len(lines)+1 {
		return nil
	}
	return []byte(strings.Join(lines[:from-1], "") + strings.Join(lines[to-1:], ""))
}
