package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ProjectFile is the name of a project's file.
const ProjectFile = ".dyn.yaml"

// maxFile is how long a configuration file may be.
const maxFile = 1 << 20

// FileError says what is wrong with a file, and where.
type FileError struct {
	Path string
	Line int
	Msg  string
	Hint string // the nearest key or value that there is, or ""
}

// Error names the file, the line and the fault.
func (e *FileError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg) }

// readFile returns the settings of a file by key. A file that is not there
// has none.
func readFile(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	if len(data) > maxFile {
		return nil, &FileError{Path: path, Line: 1, Msg: "longer than 1 MiB"}
	}
	return parse(path, data)
}

// parse reads the two levels that a file has: sections, and their keys.
func parse(path string, data []byte) (map[string]string, error) {
	r := reader{path: path, dir: filepath.Dir(path), found: map[string]string{}}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, &FileError{Path: path, Line: lineOf(err), Msg: firstLine(err)}
	}
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if err := r.sections(doc.Body); err != nil {
			return nil, err
		}
	}
	return r.found, nil
}

// reader collects the settings of one file.
type reader struct {
	path, dir string
	found     map[string]string
}

func (r *reader) sections(body ast.Node) error {
	entries, err := r.entries(body, "the file")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := keyOf(e)
		if !section(name) {
			return r.unknown(e, "section", name, sectionNames())
		}
		if e.Value.Type() == ast.NullType {
			continue
		}
		if err := r.keys(name, e.Value); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) keys(name string, body ast.Node) error {
	entries, err := r.entries(body, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		key := name + "." + keyOf(e)
		s := find(key)
		if s == nil {
			return r.unknown(e, "key", key, keyNames())
		}
		var text string
		switch v := e.Value.(type) {
		case *ast.NullNode:
			continue
		case *ast.LiteralNode:
			text = v.Value.Value
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			text = v.GetToken().Value
		default:
			return r.at(e, key+" wants one value")
		}
		value, err := s.normal(text, r.dir)
		if err != nil {
			return r.valued(e, key, err)
		}
		r.found[s.Key] = value
	}
	return nil
}

// entries returns the pairs of a mapping.
func (r *reader) entries(n ast.Node, what string) ([]*ast.MappingValueNode, error) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, nil
	}
	return nil, r.at(n, what+" wants keys and values")
}

func (r *reader) at(n ast.Node, msg string) error {
	return &FileError{Path: r.path, Line: lineAt(n), Msg: msg}
}

// valued says that a key cannot have its value.
func (r *reader) valued(n ast.Node, key string, err error) error {
	no := &FileError{Path: r.path, Line: lineAt(n), Msg: key + ": " + err.Error()}
	var bad *ValueError
	if errors.As(err, &bad) {
		no.Hint = bad.Like
	}
	return no
}

func (r *reader) unknown(n ast.Node, what, name string, known []string) error {
	e := &FileError{Path: r.path, Line: lineAt(n), Msg: fmt.Sprintf("unknown %s %q", what, name)}
	e.Hint = Nearest(name, known)
	return e
}

// lineAt is the line of a node; a pair's line is its key's.
func lineAt(n ast.Node) int {
	if pair, ok := n.(*ast.MappingValueNode); ok {
		n = pair.Key
	}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		return tok.Position.Line
	}
	return 1
}

func keyOf(e *ast.MappingValueNode) string {
	if tok := e.Key.GetToken(); tok != nil {
		return tok.Value
	}
	return e.Key.String()
}

// Project finds the project file of a folder: its own, or the nearest above.
// It returns "" where there is none.
func Project(dir string) string {
	for {
		path := filepath.Join(dir, ProjectFile)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// lineOf takes the line out of the parser's message, which starts with
// [line:column].
func lineOf(err error) int {
	var line int
	fmt.Sscanf(strings.TrimLeft(err.Error(), "["), "%d", &line)
	return max(line, 1)
}

// firstLine is the parser's message without its position and picture.
func firstLine(err error) string {
	msg, _, _ := strings.Cut(err.Error(), "\n")
	if _, rest, ok := strings.Cut(msg, "] "); ok {
		return rest
	}
	return msg
}
