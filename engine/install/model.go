package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

// Models is the folder of the model files that were fetched. Each has a folder
// of its own, named by its checksum, with nothing else that a model is read
// from; so that folder is a model folder. It need not be there.
type Models struct{ Dir string }

// Folder is where a recipe's file is, or will be.
func (m Models) Folder(f recipes.Fetch) string {
	name, _, _ := strings.Cut(f.Package, "==")
	return filepath.Join(m.Dir, name+"-"+strings.ToLower(f.SHA256)[:12])
}

// File is the path of a recipe's file.
func (m Models) File(f recipes.Fetch) string {
	return filepath.Join(m.Folder(f), path.Base(f.File))
}

// seen is what is remembered of a file whose checksum was right, so that it is
// not read anew at each start.
type seen struct {
	SHA256 string    `json:"sha256"`
	Bytes  int64     `json:"bytes"`
	Time   time.Time `json:"modified"`
}

// Have reports whether the file is there and the right one. A file that was
// put there by hand is read once. The error is a *turn.Fault, with ErrSum in
// its chain when another file stands in its place.
func (m Models) Have(f recipes.Fetch) (bool, error) {
	file := m.File(f)
	op := "read model " + file
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &turn.Fault{Op: op, Err: err}
	}
	want := seen{strings.ToLower(f.SHA256), info.Size(), info.ModTime().UTC()}
	var had seen
	data, err := os.ReadFile(m.stamp(f))
	if err == nil && json.Unmarshal(data, &had) == nil && had.SHA256 == want.SHA256 && had.Bytes == want.Bytes && had.Time.Equal(want.Time) {
		return true, nil
	}
	if err := verify(file, f, nil); err != nil {
		return false, &turn.Fault{Op: op, Err: err, Try: "rm -r " + m.Folder(f)}
	}
	return true, m.remember(f)
}

// stamp is the file that remembers a checksum.
func (m Models) stamp(f recipes.Fetch) string { return filepath.Join(m.Folder(f), "checked.json") }

// remember writes down that the file is the right one.
func (m Models) remember(f recipes.Fetch) error {
	info, err := os.Stat(m.File(f))
	if err != nil {
		return err
	}
	data, err := json.Marshal(seen{strings.ToLower(f.SHA256), info.Size(), info.ModTime().UTC()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.stamp(f), data, 0o644); err != nil && !errors.Is(err, os.ErrPermission) {
		return err // in a folder of somebody else's the file is read at each start
	}
	return nil
}

// Fetch brings the file, if it is not there, and checks it. What came is kept
// only when it is right and whole; the caches of uv and pip spare a second
// download after a failure. The error is a *turn.Fault, or ctx's cause.
func (m Models) Fetch(ctx context.Context, f recipes.Fetch, h Host, show func(Progress)) error {
	op := "fetch " + f.Package
	lock, err := lockDir(m.Dir, op)
	if err != nil {
		return err
	}
	defer lock.Close()
	if ok, err := m.Have(f); ok || err != nil {
		return err
	}
	if need := 3 * f.Bytes; h.Free >= 0 && h.Free < need { // the package, what is in it, and a cache of it
		return &turn.Fault{Op: op, Err: fmt.Errorf("%w: it takes %s for a moment, %s are free", ErrNoRoom, size(need), size(h.Free)), Try: "df -h " + Above(m.Dir)}
	}
	list, uv, err := environment([2]int{8, 99}, h)
	if err != nil {
		return &turn.Fault{Op: op, Err: err, Why: m.copyAdvice(f), Try: "apt-get install python3-venv"}
	}
	list = append(list,
		Step{Stage: "packages", Path: packageList, text: f.Package + "\n"}, Step{Stage: "packages", Command: packages(uv, false, Want{})})
	s := Store(m)
	sweep(m.Dir)
	dir, err := s.begin()
	if err != nil {
		return &turn.Fault{Op: op, Err: err}
	}
	defer os.RemoveAll(dir)
	r := &runner{dir: dir, op: op, copy: m.copyAdvice(f), try: "dyn up tiny", show: show, packages: 1}
	if err := r.run(ctx, list); err != nil {
		return err
	}
	site, err := siteOf(dir)
	if err != nil {
		return &turn.Fault{Op: op, Err: err}
	}
	if err := m.place(dir, filepath.Join(site, filepath.FromSlash(f.File)), f, show); err != nil {
		return &turn.Fault{Op: op, Err: err, Why: m.copyAdvice(f)}
	}
	return nil
}

// place checks the file that came and gives it its place.
func (m Models) place(dir, file string, f recipes.Fetch, show func(Progress)) error {
	if err := verify(file, f, show); err != nil {
		return err
	}
	whole := filepath.Join(dir, "whole")
	if err := os.Mkdir(whole, 0o755); err != nil {
		return err
	}
	if err := os.Rename(file, filepath.Join(whole, path.Base(f.File))); err != nil {
		return err
	}
	if err := os.RemoveAll(m.Folder(f)); err != nil { // without the right file it was none
		return err
	}
	if err := os.Rename(whole, m.Folder(f)); err != nil {
		return err
	}
	return m.remember(f)
}

// verify reads a file and compares it with what it should be.
func verify(file string, f recipes.Fetch, show func(Progress)) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil && info.Size() != f.Bytes {
		return fmt.Errorf("%w: %s has %d bytes, it should have %d", ErrSum, file, info.Size(), f.Bytes)
	}
	if show != nil {
		show(Progress{Stage: "check", OfBytes: f.Bytes, Bytes: f.Bytes})
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != strings.ToLower(f.SHA256) {
		return fmt.Errorf("%w: %s has the SHA-256 %s, it should have %s", ErrSum, file, got, f.SHA256)
	}
	return nil
}
