package engine

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is one running child in its own process group.
type process struct {
	pid    int
	cmd    *exec.Cmd
	exited chan struct{} // closed when it is gone
	err    error         // how it went; to be read after exited
}

// launcher starts children from one thread that lives as long as the fleet:
// Linux sends the signal of a parent's death when the thread that forked
// ends, and Go's threads come and go. The zero value is ready.
type launcher struct {
	once  sync.Once
	ended sync.Once
	work  chan func()
}

// start runs a command line with its output in the file.
func (l *launcher) start(c Launch, out *os.File) (*process, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = attributes(c)
	l.once.Do(func() {
		l.work = make(chan func())
		go l.run()
	})
	failed := make(chan error)
	l.work <- func() { failed <- cmd.Start() }
	if err := <-failed; err != nil {
		return nil, err
	}
	p := &process{pid: cmd.Process.Pid, cmd: cmd, exited: make(chan struct{})}
	go p.reap()
	return p, nil
}

func (l *launcher) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for f := range l.work {
		f()
	}
}

// close ends the thread, and with it every bound child that still lives.
func (l *launcher) close() {
	l.once.Do(func() { l.work = make(chan func()) })
	l.ended.Do(func() { close(l.work) })
}

// reap waits for the child, and takes the rest of its group with it: what it
// leaves behind would hold its port and its GPUs.
func (p *process) reap() {
	awaitExit(p.pid) // not reaped yet, so that the group's number stays taken
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.err = p.cmd.Wait()
	if p.err == nil {
		p.err = errors.New("exit status 0")
	}
	close(p.exited)
}

// end asks the child to end, waits, and then kills its group. It returns when
// the child is gone.
func (p *process) end(wait time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-p.exited:
		return
	case <-late.C:
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	<-p.exited
}
