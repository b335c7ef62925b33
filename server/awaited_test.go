package server

import (
	"context"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// born is a worker with a process.
type born struct {
	*puppet
	pid     int
	adopted bool
}

func (b born) Info() turn.WorkerInfo {
	i := b.puppet.Info()
	i.PID, i.Adopted = b.pid, b.adopted
	return i
}

// A turn that comes while an engine of an earlier daemon is taken over waits
// until it is known what that can do; where it is started anew instead, who
// asks is told so at once.
func TestWaitsForAnEngineThatIsTakenOver(t *testing.T) {
	st := newStage(t)
	m := st.s.models["sim"]
	m.Awaited = time.Now().Add(time.Hour)
	held := says("hi", `,"response_format":{"type":"json_object"}`)
	ask := func(ctx context.Context) chan int {
		into := make(chan int, 1)
		go func() {
			status, _ := st.post(ctx, chatPath, held)
			into <- status
		}()
		st.until("it waits", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.news != nil })
		return into
	}
	heir := born{puppet: &puppet{name: "w0", caps: turn.Capabilities{Model: "sim"}, now: turn.Starting, play: aWord}}
	update := func() {
		t.Helper()
		if err := st.s.Update(heir); err != nil {
			t.Fatal(err)
		}
	}
	first, second := ask(t.Context()), ask(t.Context()) // nobody is there
	update()                                            // one that is about to be found
	heir.pid, heir.adopted = 7, true
	update()
	able := caps(1000)
	able.Formats = true
	heir.puppet.mu.Lock()
	heir.caps, heir.now = able, turn.Ready
	heir.puppet.mu.Unlock()
	update()
	if a, b := <-first, <-second; a != 200 || b != 200 {
		t.Errorf("taken over: %d, %d", a, b)
	}

	heir.set(turn.Starting)
	update()
	ctx, hangUp := context.WithCancel(t.Context())
	gone := ask(ctx)
	hangUp()
	<-gone
	st.until("nobody asks", func() bool {
		st.s.watches.mu.Lock()
		defer st.s.watches.mu.Unlock()
		return len(st.s.watches.list) == 0
	})

	late := ask(t.Context())
	heir.adopted = false // it was ended, and another one was started
	update()
	if status := <-late; status != 503 {
		t.Errorf("started anew: %d", status)
	}
	heir.adopted = true
	m.Awaited = time.Now()
	update()
	if status, _ := st.post(t.Context(), chatPath, held); status != 503 {
		t.Errorf("it does not come: %d", status)
	}
}
