package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agentinfer/dyn/turn"
)

// lock takes the store for this process, for as long as the file is open. The
// error is a *turn.Fault with ErrBusy in its chain when somebody else has it.
func (s Store) lock(op string) (*os.File, error) { return lockDir(s.Dir, op) }

// lockDir makes a folder and takes its lock.
func lockDir(dir, op string) (*os.File, error) {
	err := os.MkdirAll(dir, 0o755)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, &turn.Fault{Op: op, Err: err, Why: "XDG_DATA_HOME and XDG_CACHE_HOME name other places for engines and models", Try: "ls -ld " + Above(dir)}
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		who := make([]byte, 32)
		n, _ := f.ReadAt(who, 0)
		f.Close()
		return nil, &turn.Fault{
			Op: op, Err: fmt.Errorf("%w: pid %s", ErrBusy, strings.TrimSpace(string(who[:n]))), Why: "it holds " + filepath.Join(dir, ".lock"),
			Try: "dyn engine ls",
		}
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // for who waits; the lock is the flock
	}
	return f, nil
}
