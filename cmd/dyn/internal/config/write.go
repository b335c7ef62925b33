package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ErrByHand is in the chain when a file has a form that Write does not change
// without loss.
var ErrByHand = errors.New("its form is not one that can be changed without loss")

// Find returns the row of a key.
func Find(key string) (Setting, bool) {
	if s := find(key); s != nil {
		return *s, true
	}
	return Setting{}, false
}

// Keys lists the keys of all settings.
func Keys() []string { return keyNames() }

// Check brings a value to the form that programs read, or says what is wrong
// with it. dir is what a path is relative to.
func (s Setting) Check(value, dir string) (string, error) { return s.normal(value, dir) }

// Write sets a key in a file, which is made where it is not there. All else in
// the file stays as it is, comments too. The error wraps ErrByHand where that
// cannot be.
func Write(path, key, value string) error {
	return change(path, key, func(path string, data []byte, s *Setting) ([]byte, error) {
		return edit(path, data, s, value)
	})
}

// change writes what becomes of a file's text.
func change(path, key string, edit func(path string, data []byte, s *Setting) ([]byte, error)) error {
	s := find(key)
	if s == nil {
		return fmt.Errorf("unknown key %q", key)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("write config: %w", err)
	default:
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	changed, err := edit(path, data, s)
	if err != nil {
		return err
	}
	return replace(path, changed, mode)
}

// edit is a file's text with a key set, checked by reading it again: the key
// has the value, and all others what they had.
func edit(path string, data []byte, s *Setting, value string) ([]byte, error) {
	want, err := parse(path, data)
	if err != nil {
		return nil, err
	}
	now, err := s.normal(value, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	want[s.Key] = now
	changed := insert(data, s.Key, scalar(value))
	if got, err := parse(path, changed); err != nil || !maps.Equal(got, want) {
		return nil, fmt.Errorf("write %s: %w", path, ErrByHand)
	}
	return changed, nil
}

// plain are the texts that mean themselves in YAML.
var plain = regexp.MustCompile(`^[A-Za-z0-9/][A-Za-z0-9_./:=+-]*[A-Za-z0-9_./=+-]$|^[A-Za-z0-9]$`)

// scalar writes a value.
func scalar(value string) string {
	if plain.MatchString(value) {
		return value
	}
	return strconv.Quote(value)
}

// insert puts a key where it belongs, as far as the file's form is simple.
func insert(data []byte, key, value string) []byte {
	section, name, _ := strings.Cut(key, ".")
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil
	}
	for _, doc := range file.Docs {
		for _, e := range pairs(doc.Body) {
			if keyOf(e) == section {
				return within(data, e, name, value)
			}
		}
	}
	data = bytes.TrimRight(data, "\n")
	if len(data) > 0 {
		data = append(data[:len(data):len(data)], '\n')
	}
	return fmt.Appendf(data, "%s:\n  %s: %s\n", section, name, value)
}

// within puts a key into a section.
func within(data []byte, section *ast.MappingValueNode, name, value string) []byte {
	inside := pairs(section.Value)
	for _, e := range inside {
		if keyOf(e) == name {
			return revalue(data, e, value)
		}
	}
	if m, ok := section.Value.(*ast.MappingNode); ok && m.IsFlowStyle {
		more := ""
		if len(inside) > 0 {
			more = ", "
		}
		at := offset(data, m.Start.Position.Line, m.Start.Position.Column)
		return splice(data, at+1, at+1, name+": "+value+more)
	}
	line, indent := lineAt(section)+1, 2
	if len(inside) > 0 {
		line, indent = lineAt(inside[0]), inside[0].Key.GetToken().Position.Column-1
	}
	at := offset(data, line, 1)
	text := strings.Repeat(" ", indent) + name + ": " + value + "\n"
	if at > 0 && data[at-1] != '\n' {
		text = "\n" + text
	}
	return splice(data, at, at, text)
}

// revalue changes a key's value, or gives it one.
func revalue(data []byte, e *ast.MappingValueNode, value string) []byte {
	tok := e.Value.GetToken()
	was := strings.TrimSpace(tok.Origin)
	at := offset(data, tok.Position.Line, tok.Position.Column)
	switch {
	case was != "" && at < len(data) && bytes.HasPrefix(data[at:], []byte(was)):
		return splice(data, at, at+len(was), value)
	case e.Value.Type() != ast.NullType:
		return nil
	}
	key := e.Key.GetToken().Position // nothing stands behind its colon
	at = offset(data, key.Line, key.Column)
	colon := bytes.IndexByte(data[at:], ':')
	if colon < 0 {
		return nil
	}
	return splice(data, at+colon+1, at+colon+1, " "+value)
}

// pairs are those of a mapping; none of anything else.
func pairs(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// offset is where a line and a column, from 1, lie in a text; its end where it
// has no such line.
func offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return len(data)
		}
		at += end + 1
	}
	for _, r := range string(data[at:]) { // columns count characters
		if column--; column <= 0 {
			break
		}
		at += len(string(r))
	}
	return at
}

func splice(data []byte, from, to int, text string) []byte {
	if from > len(data) || to > len(data) {
		return nil
	}
	return append(append(append([]byte{}, data[:from]...), text...), data[to:]...)
}

// replace writes a file whole or not at all.
func replace(path string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	return nil
}
