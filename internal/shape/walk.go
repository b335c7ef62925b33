package shape

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// module is this repository's import path.
const module = "github.com/agentinfer/dyn"

// file is one Go file of the repository.
type file struct {
	path    string // from the root, with slashes
	dir     string // its package's folder
	test    bool
	made    bool // by a program
	lines   int
	text    []byte
	name    string // of the package
	imports []string
}

// root finds the folder of go.mod above the working folder.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("find root: no go.mod above the working folder")
		}
		dir = up
	}
}

// walk reads all Go files below a root, those that Go itself ignores
// excepted.
func walk(root string) ([]file, error) {
	var files []file
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go"):
			return nil
		}
		f, err := read(root, p)
		if err == nil {
			files = append(files, f)
		}
		return err
	})
	return files, err
}

func read(root, p string) (file, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
	if err != nil {
		return file{}, err
	}
	f := file{path: p, dir: path.Dir(p), test: strings.HasSuffix(p, "_test.go"), text: text, lines: bytes.Count(text, []byte("\n"))}
	f.made = bytes.Contains(text[:min(len(text), 500)], []byte("DO NOT EDIT"))
	parsed, err := parser.ParseFile(token.NewFileSet(), p, text, parser.ImportsOnly)
	if err != nil {
		return f, err
	}
	f.name = parsed.Name.Name
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return f, err
		}
		f.imports = append(f.imports, name)
	}
	return f, nil
}
