package install

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
)

// script is how large a file of an environment may be that is looked into for
// its own place.
const script = 1 << 20

// settle has the programs of an environment, which was made in the folder
// from, know that they will lie in place: console scripts begin with the path
// of their Python, and those that activate the environment name its folder.
func settle(from, place string) error {
	files, err := below(from, "bin/*")
	if err != nil {
		return err
	}
	for _, path := range append(files, filepath.Join(from, "pyvenv.cfg")) {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > script {
			continue
		}
		if err := rename(path, info.Mode(), from, place); err != nil {
			return err
		}
	}
	return nil
}

// rename puts another path into a text, and its last name where that stands
// alone. The file is made anew: under its old name it may lie in a cache of
// packages as well.
func rename(path string, mode fs.FileMode, old, now string) error {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(filepath.Base(old))) || bytes.IndexByte(text, 0) >= 0 {
		return err
	}
	for _, name := range [][2]string{{old, now}, {filepath.Base(old), filepath.Base(now)}} {
		text = bytes.ReplaceAll(text, []byte(name[0]), []byte(name[1]))
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, text, mode.Perm())
}
