package folders

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// socketMax is the longest path that a Unix socket's address holds on Linux,
// less the byte that ends it.
const socketMax = 107

// Folders are the places of one user. The zero value is not useful.
type Folders struct {
	Config string // user's file: Config/config.yaml
	State  string // ledger.db, logs, run
	Data   string // installed engines
	Cache  string // what can be made again, fetched models among it
	short  string // where a socket goes whose path would be too long
}

// ErrNoHome is in the chain when nothing says where the folders are.
var ErrNoHome = errors.New("HOME is not set")

// ErrNotMade is in the chain when a folder cannot be made, or is not this
// user's alone.
var ErrNotMade = errors.New("make folders")

// Find reads the XDG variables through env, which is os.Getenv outside of
// tests. A relative path in such a variable is ignored, as the rules ask.
func Find(env func(string) string) (Folders, error) {
	home := env("HOME")
	pick := func(name, under string) (string, error) {
		if dir := env(name); filepath.IsAbs(dir) {
			return filepath.Join(dir, "dyn"), nil
		}
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("find folders: %w, nor is %s", ErrNoHome, name)
		}
		return filepath.Join(home, under, "dyn"), nil
	}
	var f Folders
	var errs [4]error
	f.Config, errs[0] = pick("XDG_CONFIG_HOME", ".config")
	f.State, errs[1] = pick("XDG_STATE_HOME", filepath.Join(".local", "state"))
	f.Cache, errs[2] = pick("XDG_CACHE_HOME", ".cache")
	f.Data, errs[3] = pick("XDG_DATA_HOME", filepath.Join(".local", "share"))
	f.short = env("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(f.short) {
		f.short = os.TempDir()
	}
	return f, cmp.Or(errs[:]...)
}

// UserFile is the user's configuration file.
func (f Folders) UserFile() string { return filepath.Join(f.Config, "config.yaml") }

// Ledger is the database of what happened.
func (f Folders) Ledger() string { return filepath.Join(f.State, "ledger.db") }

// Keys is the file of the API keys.
func (f Folders) Keys() string { return filepath.Join(f.State, "keys.json") }

// Learnt is the folder of what strategies have learnt, one file per model.
func (f Folders) Learnt() string { return filepath.Join(f.State, "learnt") }

// Engines is the folder of the installed engines.
func (f Folders) Engines() string { return filepath.Join(f.Data, "engines") }

// Parsers is where the user's own parsers lie, one spec in each file.
func (f Folders) Parsers() string { return filepath.Join(f.Config, "parsers") }

// Models is the folder of the models that were fetched.
func (f Folders) Models() string { return filepath.Join(f.Cache, "models") }

// Logs is the folder of the log files, one per process.
func (f Folders) Logs() string { return filepath.Join(f.State, "logs") }

// Log is the log file of one process: "daemon", or a worker's name.
func (f Folders) Log(name string) string { return filepath.Join(f.Logs(), name+".log") }

// Prompts is the file of what was found of a worker's prompts, see package
// engine/check.
func (f Folders) Prompts(name string) string { return filepath.Join(f.Logs(), name+".prompts.json") }

// Run is the folder of the living daemon's files.
func (f Folders) Run() string { return filepath.Join(f.State, "run") }

// Socket is the control socket's path. It is the same for everybody who has
// the same state folder, whatever the length of that folder's name.
func (f Folders) Socket() string {
	path := filepath.Join(f.Run(), "control.sock")
	if len(path) <= socketMax {
		return path
	}
	h := fnv.New64a()
	h.Write([]byte(f.State))
	dir := "dyn-" + strconv.Itoa(os.Getuid()) + "-" + strconv.FormatUint(h.Sum64(), 16)
	return filepath.Join(f.short, dir, "control.sock")
}

// HookSocket is where hooks of harnesses tell what happens, beside the control
// socket.
func (f Folders) HookSocket() string { return filepath.Join(filepath.Dir(f.Socket()), "hook.sock") }

// Make creates the folders that a daemon writes to. An existing one keeps its
// mode, except that the run and socket folders must be this user's alone.
func (f Folders) Make() error {
	for _, dir := range []string{f.State, f.Logs(), f.Run(), filepath.Dir(f.Socket())} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("%w: %w", ErrNotMade, err)
		}
	}
	for _, dir := range []string{f.Run(), filepath.Dir(f.Socket())} {
		if err := private(dir); err != nil {
			return fmt.Errorf("%w: %w", ErrNotMade, err)
		}
	}
	return nil
}

// private makes sure that dir is a real folder of this user with mode 0700:
// the temporary folder is shared, and somebody else may have been there first.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s: not a folder of this user", dir)
	}
	if info.Mode().Perm() != 0o700 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}
