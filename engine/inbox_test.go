package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/zmtp"
	"github.com/agentinfer/dyn/turn"
)

// connect makes the station's publisher one that connects to an address.
func (s *station) connect(t *testing.T, addr string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pub.Close()
	p, err := zmtp.DialPub(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	s.pub = p
}

// subscribed waits until the station's events are wanted.
func (s *station) subscribed(t *testing.T) {
	t.Helper()
	wait(t, "subscribed", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pub.Subscribers() > 0
	})
}

// take starts a feed that reads from an inbox, and returns what it tells, how
// often it asked to be told again, and how to end it.
func take(t *testing.T, in *inbox, replay string) (told func() []string, again *atomic.Int64, end func()) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	f := NewFleet(Options{OnKV: func(b turn.KVBatch) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, words(b)...)
	}})
	again = new(atomic.Int64)
	feed := newFeed(newWorker(f), Seen{Replay: replay}, in)
	feed.relearn = func() { again.Add(1) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); feed.run(ctx) }()
	end = func() { cancel(); <-done; in.close() }
	t.Cleanup(end)
	return func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }, again, end
}

// Who listens before the engine starts loses nothing of it: without a replay,
// and however late it reads.
func TestInboxFromTheFirst(t *testing.T) {
	in := newInbox()
	s := newStation(t)
	s.connect(t, in.addr)
	s.subscribed(t)
	s.publish(1)
	s.publish(1)
	told, again, _ := take(t, in, "")
	expect(t, told, "forget", "1.0", "1.1")
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1", "1.2")
	if again.Load() != 0 {
		t.Error("it asks to be told again what it knows")
	}
}

// The next daemon listens where the engine sends, and what came meanwhile is
// there; what it held before comes by replay.
func TestInboxAfterAdoption(t *testing.T) {
	in := newInbox()
	addr := in.addr
	s := newStation(t)
	s.connect(t, addr)
	s.subscribed(t)
	s.publish(1)
	told, _, end := take(t, in, s.router.Addr())
	expect(t, told, "forget", "1.0")
	end()
	s.publish(1) // may still go to the connection that has ended
	s.publish(1)
	told, _, _ = take(t, openInbox(addr), s.router.Addr())
	expect(t, told, "forget", "1.0", "1.1", "1.2")
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1", "1.2", "1.3")
}

// A connection that breaks is the same life's: nothing is forgotten.
func TestInboxConnectionBreaks(t *testing.T) {
	in := newInbox()
	s := newStation(t)
	s.connect(t, in.addr)
	s.subscribed(t)
	told, _, _ := take(t, in, s.router.Addr())
	s.publish(1)
	expect(t, told, "forget", "1.0")
	s.connect(t, in.addr)
	s.subscribed(t)
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1")
}

// Where somebody else has the port, the feed goes by replay alone, and listens
// as soon as it can.
func TestInboxOfATakenPort(t *testing.T) {
	other := newInbox()
	at := other.addr
	s := newStation(t)
	in := openInbox(at)
	if in.in != nil {
		t.Fatal("it listens where another does")
	}
	s.make(1, 1)
	told, _, _ := take(t, in, s.router.Addr())
	expect(t, told, "forget", "1.0")
	other.close()
	s.connect(t, at)
	s.subscribed(t)
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1")
}

// What was lost and cannot be replayed has to be told again by the engine.
func TestRelearn(t *testing.T) {
	t.Run("no replay", func(t *testing.T) {
		in := newInbox()
		s := newStation(t)
		s.connect(t, in.addr)
		s.subscribed(t)
		s.make(1, 1)
		s.publish(1)
		told, again, _ := take(t, in, "")
		expect(t, told, "forget", "forget", "1.1")
		wait(t, "asked", func() bool { return again.Load() == 1 })
	})
	t.Run("replay begins later", func(t *testing.T) {
		in := newInbox()
		s := newStation(t)
		s.lose(1, 3)
		told, again, _ := take(t, in, s.router.Addr())
		expect(t, told, "forget", "forget", "1.1", "1.2")
		wait(t, "asked", func() bool { return again.Load() == 1 })
	})
}

// Who connects and says nothing does not keep the engine from being heard.
func TestInboxOfTwo(t *testing.T) {
	in := newInbox()
	silent := newStation(t)
	silent.connect(t, in.addr)
	silent.subscribed(t)
	s := newStation(t)
	s.connect(t, in.addr)
	s.subscribed(t)
	told, _, _ := take(t, in, "")
	s.publish(1)
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1")
}

func TestInboxWhoAsks(t *testing.T) {
	in := newInbox()
	defer in.close()
	if in.asked([]string{"serve", "--port", "1"}) || !in.asked([]string{"--kv", `{"endpoint":"` + in.addr + `"}`}) {
		t.Error("a command line is misread")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if sub := in.next(ctx); sub != nil {
		t.Error("somebody came")
	}
	var none *inbox
	none.close()
}
