package folders

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrHeld is in the chain when another daemon holds the lock.
var ErrHeld = errors.New("another daemon is running")

// Daemon is the run file: who lives, and how to reach it. It is readable for
// its user only, because it holds keys.
type Daemon struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	URL     string    `json:"url"`
	Key     string    `json:"api_key,omitempty"`
	Local   string    `json:"local_key,omitempty"` // what launchers send when there are keys
	Recipe  string    `json:"recipe,omitempty"`
	Ready   bool      `json:"ready"` // every worker has served a turn

	// Settings are what it was started with, by flag; the key is not among them.
	Settings map[string]string `json:"settings,omitempty"`
}

// Lock is the right to be the daemon of a state folder. The kernel takes it
// back when its holder ends, however it ends; so a lock is never stale, and
// files of a dead daemon can be removed without asking.
type Lock struct {
	file *os.File
	f    Folders
}

// Take takes the lock and clears away what a dead daemon left: its run file
// and its socket. The error wraps ErrHeld when a daemon lives.
func (f Folders) Take() (*Lock, error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.lockFile(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	lk := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lk); err != nil {
		file.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("take lock: %w", ErrHeld)
		}
		return nil, fmt.Errorf("take lock: %w", err)
	}
	l := &Lock{file: file, f: f}
	l.clear()
	return l, nil
}

// Write publishes the run file, whole or not at all.
func (l *Lock) Write(d Daemon) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	next := l.f.runFile() + ".next"
	if err := os.WriteFile(next, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	return os.Rename(next, l.f.runFile())
}

// Release removes run file and socket and gives the lock back.
func (l *Lock) Release() {
	l.clear()
	l.file.Close()
}

func (l *Lock) clear() {
	os.Remove(l.f.runFile())
	os.Remove(l.f.Socket())
	os.Remove(l.f.HookSocket())
}

// Alive reports whether a daemon holds the lock. It only looks: a daemon that
// starts at this moment is not disturbed.
func (f Folders) Alive() bool {
	file, err := os.OpenFile(f.lockFile(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	lk := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lk); err != nil {
		return false
	}
	return lk.Type != unix.F_UNLCK
}

// Daemon reads the run file. The second value is false while no daemon lives
// or the living one has not published itself yet.
func (f Folders) Daemon() (Daemon, bool) {
	if !f.Alive() {
		return Daemon{}, false
	}
	return f.Last()
}

// Last reads the run file, whoever wrote it: a daemon that lives, or one that
// ended without a word. The second value is false when there is none.
func (f Folders) Last() (Daemon, bool) {
	var d Daemon
	data, err := os.ReadFile(f.runFile())
	if err != nil || json.Unmarshal(data, &d) != nil {
		return Daemon{}, false
	}
	return d, true
}

func (f Folders) lockFile() string { return filepath.Join(f.Run(), "lock") }
func (f Folders) runFile() string  { return filepath.Join(f.Run(), "daemon.json") }
