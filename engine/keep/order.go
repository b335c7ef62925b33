package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/engine/child"
)

// Order is what a keeper shall run; it comes on its standard input, so that
// keys are on no command line. Record's fields from Mark on are the keeper's
// to fill in.
type Order struct {
	Record   Record        `json:"record"`
	Path     string        `json:"path"` // of the run file
	Args     []string      `json:"args"`
	Env      []string      `json:"env"`       // the engine's, whole
	Own      []string      `json:"-"`         // the keeper's, whole
	Grace    time.Duration `json:"grace"`     // without a daemon
	TermWait time.Duration `json:"term_wait"` // between SIGTERM and SIGKILL
}

// reportFD is where a keeper tells whether the engine was started.
const reportFD = 3

// startLimit is for the keeper itself, which loads nothing.
const startLimit = 20 * time.Second

// Start runs an order with a keeper of its own: the program self, as dyn
// worker keep. The engine writes to log. The error says why the engine could
// not be started, and is in the chain of ErrNone when it ended at once; nothing
// is left then.
func Start(self string, o Order, log *os.File) (*Kept, error) {
	o.Record.V, o.Record.Mark = version, child.NewMark()
	order, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	defer read.Close()
	cmd := exec.Command(self, "worker", "keep", o.Record.Worker)
	cmd.Env = o.Own
	cmd.Stdin = strings.NewReader(string(order))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	write.Close()
	if err != nil {
		return nil, fmt.Errorf("start its keeper: %w", err)
	}
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it tells comes through its socket
		close(over)
	}()
	_ = read.SetReadDeadline(time.Now().Add(startLimit))
	var told report
	if err := json.NewDecoder(read).Decode(&told); err != nil {
		_ = cmd.Process.Kill()
		child.Family{Mark: o.Record.Mark}.Kill()
		return nil, fmt.Errorf("start its keeper: it says nothing: %w", err)
	}
	if told.Err != "" {
		return nil, errors.New(told.Err)
	}
	told.Record.path = o.Path
	k, err := Join(told.Record)
	if err == nil {
		return k, nil
	}
	select { // the engine was faster than we
	case <-over:
	case <-time.After(obeyLimit):
		_ = cmd.Process.Kill()
	}
	if last, bad := Read(o.Path); bad == nil && last.Mark == told.Record.Mark && last.Ended != "" {
		err = fmt.Errorf("%w: %s", ErrNone, last.Ended)
	}
	told.Record.Clear()
	return nil, err
}

// report is the keeper's only word on reportFD.
type report struct {
	Record Record `json:"record"`
	Err    string `json:"err,omitempty"`
}
