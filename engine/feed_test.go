package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/zmtp"
	"github.com/agentinfer/dyn/turn"
)

// station publishes numbered batches and keeps them for replay, as an engine.
type station struct {
	pub    *zmtp.Pub
	router *zmtp.Router
	mu     sync.Mutex
	seq    uint64
	kept   map[uint64][]byte
	asked  int
	mute   bool // forget the end mark of a replay
}

func newStation(t *testing.T) *station {
	t.Helper()
	s := &station{kept: map[uint64][]byte{}}
	var err error
	if s.pub, err = zmtp.ListenPub("tcp://*:0"); err != nil {
		t.Fatal(err)
	}
	if s.router, err = zmtp.ListenRouter("tcp://*:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.pub.Close(); s.router.Close() })
	go s.replay()
	return s
}

func (s *station) replay() {
	for {
		peer, frames, err := s.router.Recv()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.asked++
		for seq := binary.BigEndian.Uint64(frames[1]); seq < s.seq; seq++ {
			if b, ok := s.kept[seq]; ok {
				_ = s.router.Send(peer, nil, []byte("kv"), number(seq), b)
			}
		}
		if !s.mute {
			_ = s.router.Send(peer, nil, nil, number(math.MaxUint64), nil)
		}
		s.mute = false
		s.mu.Unlock()
	}
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// batch removes one block whose hash tells the life and the number.
func batch(life byte, seq uint64) []byte {
	b := []byte{0x93, 0xca, 0, 0, 0, 0, 0x91, 0x82, 0xa4}
	b = append(b, "type\xacBlockRemoved\xacblock_hashes\x91"...)
	return append(b, 0xcd, life, byte(seq), 0x00)
}

// make keeps n batches without publishing them.
func (s *station) make(life byte, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.kept[s.seq] = batch(life, s.seq)
		s.seq++
	}
}

// lose makes n batches without publishing them, of which the first cannot be
// had again, nor any before it.
func (s *station) lose(life byte, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = map[uint64][]byte{}
	for i := range n {
		if i > 0 {
			s.kept[s.seq] = batch(life, s.seq)
		}
		s.seq++
	}
}

// restart begins another life, at the same addresses.
func (s *station) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq, s.kept = 0, map[uint64][]byte{}
}

// again sends a batch that was made before, as it was or spoiled.
func (s *station) again(seq uint64, spoil func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.kept[seq]
	if spoil != nil {
		b = spoil(slices.Clone(b))
	}
	_ = s.pub.Send([]byte("kv"), number(seq), b)
}

// keep lets go of all batches before one.
func (s *station) keep(from uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq := range s.kept {
		if seq < from {
			delete(s.kept, seq)
		}
	}
}

// publish makes one and sends it.
func (s *station) publish(life byte) {
	s.make(life, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.pub.Send([]byte("kv"), number(s.seq-1), s.kept[s.seq-1])
}

// made is how many batches there are.
func (s *station) made() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// wire starts a feed on the station and returns what it tells, in words.
func (s *station) wire(t *testing.T, replay bool) (told func() []string, w *Worker) {
	t.Helper()
	at := ""
	if replay {
		at = s.router.Addr()
	}
	return s.wireTo(t, s.pub.Addr(), at)
}

// wireTo starts a feed on the station's sockets as they are reached.
func (s *station) wireTo(t *testing.T, events, replay string) (told func() []string, w *Worker) {
	t.Helper()
	told, w, end := s.feed(events, replay)
	t.Cleanup(end)
	if events != "" {
		wait(t, "subscribed", func() bool { return s.pub.Subscribers() > 0 })
	}
	return told, w
}

// feed starts a feed; it has caught up.
func (s *station) feed(events, replay string) (told func() []string, w *Worker, end func()) {
	var mu sync.Mutex
	var all []string
	f := NewFleet(Options{OnKV: func(b turn.KVBatch) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, words(b)...)
	}})
	w = newWorker(f)
	feed := newFeed(w, Seen{Events: events, Replay: replay}, nil)
	feed.redial = 20 * time.Millisecond
	w.hears(feed)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); feed.run(ctx) }()
	<-feed.synced
	told = func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }
	return told, w, func() { cancel(); <-done }
}

// words tells a batch: life and number of each event.
func words(b turn.KVBatch) (all []string) {
	for _, e := range b.Events {
		if e.Kind == turn.KVRestart {
			all = append(all, "forget")
			continue
		}
		all = append(all, fmt.Sprintf("%d.%d", e.Hashes[0]>>8, e.Hashes[0]&255))
	}
	return all
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if ok() {
			return
		}
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	t.Fatalf("never: %s", what)
}

func expect(t *testing.T, told func() []string, want ...string) {
	t.Helper()
	wait(t, fmt.Sprint(want), func() bool { return len(told()) >= len(want) })
	if got := told(); !slices.Equal(got, want) {
		t.Fatalf("told %v, want %v", got, want)
	}
}

func TestFeedStartsWithReplay(t *testing.T) {
	s := newStation(t)
	s.make(1, 3)
	told, w := s.wire(t, true)
	s.publish(1)
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1", "1.2", "1.3", "1.4")
	if c := w.Info().Caps; !c.Events || !c.Replay {
		t.Errorf("capabilities are %+v", c)
	}
}

func TestFeedFillsGap(t *testing.T) {
	s := newStation(t)
	told, _ := s.wire(t, true)
	s.publish(1)
	expect(t, told, "forget", "1.0")
	s.make(1, 2) // lost on the way
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1", "1.2", "1.3")
}

// What is lost just before it gets quiet is asked for without being missed.
func TestFeedAsksOnceMore(t *testing.T) {
	s := newStation(t)
	told, _ := s.wire(t, true)
	s.make(1, 2)
	expect(t, told, "forget", "1.0", "1.1")
}

func TestFeedAsksAgainWithoutEndMark(t *testing.T) {
	s := newStation(t)
	s.make(1, 2)
	s.mute = true
	told, _ := s.wire(t, true)
	expect(t, told, "forget", "1.0", "1.1")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked < 2 {
		t.Errorf("asked %d times", s.asked)
	}
}

func TestFeedForgetsWhatCannotBeHad(t *testing.T) {
	t.Run("no replay", func(t *testing.T) {
		s := newStation(t)
		told, w := s.wire(t, false)
		s.publish(1)
		expect(t, told, "forget", "1.0")
		s.make(1, 2)
		s.publish(1)
		s.publish(1)
		expect(t, told, "forget", "1.0", "forget", "1.3", "1.4")
		if w.Info().Caps.Replay {
			t.Error("it claims to replay")
		}
	})
	t.Run("replay begins later", func(t *testing.T) {
		s := newStation(t)
		told, _ := s.wire(t, true)
		s.publish(1)
		expect(t, told, "forget", "1.0")
		s.lose(1, 3)
		s.publish(1)
		expect(t, told, "forget", "1.0", "forget", "1.2", "1.3", "1.4")
	})
}

// An engine that starts anew counts from 0; there is no other sign.
func TestFeedSeesNewLife(t *testing.T) {
	s := newStation(t)
	told, _ := s.wire(t, true)
	s.publish(1)
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1")
	s.restart()
	s.make(2, 1) // its first one is lost
	s.publish(2)
	expect(t, told, "forget", "1.0", "1.1", "forget", "2.0", "2.1")
}

// Without a publisher that can be reached, a replay is a feed too.
func TestFeedByReplayAlone(t *testing.T) {
	s := newStation(t)
	s.pub.Close()
	s.make(1, 1)
	f := NewFleet(Options{})
	var mu sync.Mutex
	n := 0
	f.o.OnKV = func(turn.KVBatch) { mu.Lock(); n++; mu.Unlock() }
	w := newWorker(f)
	feed := newFeed(w, Seen{Events: s.pub.Addr(), Replay: s.router.Addr()}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go feed.run(ctx)
	<-feed.synced
	s.make(1, 1)
	wait(t, "the batch made later", func() bool { mu.Lock(); defer mu.Unlock(); return n == 3 })
	if c := w.Info().Caps; !c.Events || !c.Replay {
		t.Errorf("capabilities are %+v", c)
	}
}
