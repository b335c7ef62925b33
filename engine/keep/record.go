package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine/child"
	"github.com/agentinfer/dyn/engine/container"
)

// version is of run file and socket together. A keeper may be of another
// release of the program than the daemon that finds it.
const version = 1

// Record is a run file: an engine that is kept, and how to reach it. It holds
// a key, so the file is its user's alone.
type Record struct {
	V       int       `json:"v"`
	Worker  string    `json:"worker"`
	Hash    string    `json:"hash"` // of what decides how it was launched
	Recipe  string    `json:"recipe"`
	Model   string    `json:"model"`
	Flags   []string  `json:"flags"` // the command line
	Port    int       `json:"port"`
	Key     string    `json:"key"`
	Events  string    `json:"events,omitempty"` // where its KV events go, when it connects to us
	Log     string    `json:"log"`
	Socket  string    `json:"socket"`           // where the keeper listens
	Mark    string    `json:"mark"`             // in the environment of all its processes
	Dir     string    `json:"dir"`              // a folder of this life's own, beside the run file; "" has none
	Remove  []string  `json:"remove,omitempty"` // command that takes its container away; nil has none
	Keeper  Proc      `json:"keeper"`
	Engine  Proc      `json:"engine"`
	Started time.Time `json:"started"`
	Ready   bool      `json:"ready"`           // it gave a token once
	Ended   string    `json:"ended,omitempty"` // how the engine ended, while nobody had ordered it
	path    string
}

// Proc is a process: its number, and what tells it from others of that number.
type Proc struct {
	PID  int    `json:"pid"`
	Born string `json:"born"`
}

// proc is the process of that number as it is now.
func proc(pid int) Proc { return Proc{pid, child.Born(pid)} }

// Lives reports whether it is still the same process.
func (p Proc) Lives() bool { return child.Same(p.PID, p.Born) }

// Path is the run file of a worker in a run folder.
func Path(dir, worker string) string { return filepath.Join(dir, worker+".json") }

// Read reads a run file. The error is in the chain of fs.ErrNotExist when
// there is none.
func Read(path string) (Record, error) {
	r := Record{path: path}
	data, err := os.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("read run file: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read run file %s: %w", path, err)
	}
	if r.V != version || !child.IsMark(r.Mark) || r.Socket == "" || r.Port == 0 || r.Engine.PID == 0 {
		return r, fmt.Errorf("read run file %s: %w", path, errForeign)
	}
	return r, nil
}

var errForeign = errors.New("not of a worker that this release keeps")

// List returns the run files of a folder that can be read, by name.
func List(dir string) []Record {
	var all []Record
	files, _ := os.ReadDir(dir) // one that is not there has none
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		if r, err := Read(filepath.Join(dir, f.Name())); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// write puts the run file there, whole or not at all.
func (r Record) write() error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	next := r.path + half
	err = os.WriteFile(next, append(data, '\n'), 0o600)
	if err == nil {
		err = os.Rename(next, r.path)
	}
	if err != nil {
		os.Remove(next)
		return fmt.Errorf("write run file: %w", err)
	}
	return nil
}

// half is how a run file is called, behind its name, until it is whole.
const half = ".next"

// Sweep removes from a folder of run files what was never made whole, by a
// keeper that was killed meanwhile. Beside a run file it stays: its keeper may
// be writing.
func Sweep(dir string) {
	files, _ := os.ReadDir(dir) // one that is not there has none
	for _, f := range files {
		whole, ok := strings.CutSuffix(f.Name(), half)
		if !ok || filepath.Ext(whole) != ".json" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, whole)); errors.Is(err, fs.ErrNotExist) {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// lost reports whether the run file is no longer this record's.
func (r Record) lost() bool {
	now, err := Read(r.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && now.Mark != r.Mark
}

// Clear removes what a keeper that is gone left: processes, socket and file.
// It returns how many processes it killed.
func (r Record) Clear() int {
	n := r.family().Kill()
	if !r.lost() {
		r.uncontain()
		r.remove()
	}
	return n
}

// uncontain takes the container of an engine away whose client is gone. The
// command is run only where it can do nothing else.
func (r Record) uncontain() {
	if container.Removes(r.Remove, "dyn-"+r.Worker+"-") {
		_ = child.Run(r.Remove, os.Environ()) // one that stays is in the way of the next, which tries again
	}
}

// family are the processes of an engine whose keeper is gone.
func (r Record) family() child.Family {
	return child.Family{Mark: r.Mark, Session: r.Keeper.PID, Born: r.Keeper.Born, Group: r.Engine.PID}
}

// remove takes everything of an engine that is gone away. A run file may have
// been written by hand: what cannot be an engine's stays.
func (r Record) remove() {
	if r.Dir == strings.TrimSuffix(r.path, ".json")+".files" {
		os.RemoveAll(r.Dir)
	}
	if info, err := os.Lstat(r.Socket); err == nil && info.Mode().Type() == fs.ModeSocket {
		os.Remove(r.Socket)
	}
	os.Remove(r.path)
	os.Remove(r.path + half)
}
