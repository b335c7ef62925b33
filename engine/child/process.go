package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is what a child shall be.
type Command struct {
	Args  []string // program first
	Env   []string // whole: nothing is added
	Dir   string   // "" is the parent's
	Out   *os.File // where its output goes, not nil; the caller closes its own
	Bound bool     // dies with this process, however that ends
	After []string // run when it is gone with its group, in the same environment; nil is nothing
}

// Process is one running child in its own process group.
type Process struct {
	pid    int
	cmd    *exec.Cmd
	after  []string
	exited chan struct{} // closed when it is gone
	err    error         // how it went; to be read after exited
}

// Launcher starts children from one thread that lives until Close: Linux sends
// the signal of a parent's death when the thread that forked ends, and Go's
// threads come and go. The zero value is ready.
type Launcher struct {
	once  sync.Once
	ended sync.Once
	work  chan func()
}

// Start runs a command. It must not be called after Close.
func (l *Launcher) Start(c Command) (*Process, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.Stdout, cmd.Stderr = c.Out, c.Out
	cmd.SysProcAttr = attributes(c.Bound)
	l.once.Do(func() {
		l.work = make(chan func())
		go l.run()
	})
	failed := make(chan error)
	l.work <- func() { failed <- cmd.Start() }
	if err := <-failed; err != nil {
		return nil, err
	}
	p := &Process{pid: cmd.Process.Pid, cmd: cmd, after: c.After, exited: make(chan struct{})}
	go p.reap()
	return p, nil
}

func (l *Launcher) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for f := range l.work {
		f()
	}
}

// Close ends the thread, and with it every bound child that still lives.
func (l *Launcher) Close() {
	l.once.Do(func() { l.work = make(chan func()) })
	l.ended.Do(func() { close(l.work) })
}

// PID is the child's number, and that of its group.
func (p *Process) PID() int { return p.pid }

// Exited is closed when the child is gone.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err is how the child ended, never nil. It must not be called before Exited
// is closed.
func (p *Process) Err() error { return p.err }

// reap waits for the child, and takes the rest of its group with it.
func (p *Process) reap() {
	awaitExit(p.pid) // not reaped yet, so that the group's number stays taken
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.err = p.cmd.Wait()
	if p.err == nil {
		p.err = errors.New("exit status 0")
	}
	if len(p.after) > 0 {
		if err := Run(p.after, p.cmd.Env); err != nil {
			p.err = fmt.Errorf("%w; then %w", p.err, err)
		}
	}
	close(p.exited)
}

// afterLimit is for a command that tidies up.
const afterLimit = 30 * time.Second

// Run runs a short command to its end, in the environment env. The error has
// its last words.
func Run(args, env []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), afterLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	words := strings.TrimSpace(string(out))
	return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, words[strings.LastIndexByte(words, '\n')+1:])
}

// End asks the child to end, waits, and then kills its group. It returns when
// the child is gone.
func (p *Process) End(wait time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-p.exited:
		return
	case <-late.C:
	}
	select {
	case <-p.exited: // the number may be another's by now
		return
	default:
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	<-p.exited
}
