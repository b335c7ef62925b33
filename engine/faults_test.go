package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/internal/cable"
	"github.com/agentinfer/dyn/turn"
)

// far puts cables in front of a station's sockets.
func (s *station) far(t *testing.T) (events, replay *cable.Cable) {
	t.Helper()
	lay := func(addr string) *cable.Cable {
		c, err := cable.New(strings.TrimPrefix(addr, "tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	return lay(s.pub.Addr()), lay(s.router.Addr())
}

// A batch that comes twice, at once or later, changes nothing.
func TestFeedHearsTwice(t *testing.T) {
	t.Parallel()
	for _, replay := range []bool{true, false} {
		s := newStation(t)
		told, _ := s.wire(t, replay)
		for range 3 {
			s.publish(1)
		}
		s.again(2, nil)
		s.again(0, nil)
		s.again(1, nil)
		s.publish(1)
		expect(t, told, "forget", "1.0", "1.1", "1.2", "1.3")
	}
}

// A batch that is overtaken by the next comes by replay, and is not heard again.
func TestFeedHearsInAnotherOrder(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	told, _ := s.wire(t, true)
	s.publish(1)
	s.make(1, 1)
	s.publish(1)
	s.again(1, nil)
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1", "1.2", "1.3")
}

// What cannot be read may have told that blocks are gone: none is believed in
// any more. What follows is.
func TestFeedCannotRead(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]byte) []byte{
		"cut":             func(b []byte) []byte { return b[:len(b)-3] },
		"a batch of none": func([]byte) []byte { return []byte("never a batch") },
		"a removal of no hash": func(b []byte) []byte {
			b[len(b)-4] = 0xc3
			return b
		},
	} {
		s := newStation(t)
		told, w := s.wire(t, false)
		s.publish(1)
		s.make(1, 1)
		s.again(1, spoil)
		s.publish(1)
		expect(t, told, "forget", "1.0", "forget", "1.2")
		if w.Dropped() == 0 {
			t.Errorf("%s: it is not counted", name)
		}
	}
}

// A connection that breaks is not the end of what is known, when a replay shows
// that the engine is in the same life.
func TestFeedIsCut(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	wire, _ := s.far(t)
	told, _ := s.wireTo(t, "tcp://"+wire.Addr(), s.router.Addr())
	s.publish(1)
	expect(t, told, "forget", "1.0")
	wire.Cut()
	s.make(1, 1) // while nobody is connected
	wait(t, "subscribed again", func() bool { return s.pub.Subscribers() > 0 })
	s.publish(1)
	expect(t, told, "forget", "1.0", "1.1", "1.2")
}

// Without a replay, nobody knows what was missed meanwhile.
func TestFeedIsCutWithoutReplay(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	wire, _ := s.far(t)
	told, _ := s.wireTo(t, "tcp://"+wire.Addr(), "")
	s.publish(1)
	expect(t, told, "forget", "1.0")
	wire.Cut()
	wait(t, "it forgets", func() bool { return len(told()) == 3 })
	wait(t, "subscribed again", func() bool { return s.pub.Subscribers() > 0 })
	s.publish(1)
	expect(t, told, "forget", "1.0", "forget", "forget", "1.1")
}

// An engine that was started anew while nobody listened is in another life,
// even where nothing of the old one was heard live, and where the new one has
// made as many batches.
func TestFeedSeesNewLifeByReplay(t *testing.T) {
	t.Parallel()
	for _, made := range []int{1, 3, 5} {
		s := newStation(t)
		s.make(1, 3)
		wire, _ := s.far(t)
		told, _ := s.wireTo(t, "tcp://"+wire.Addr(), s.router.Addr())
		want := []string{"forget", "1.0", "1.1", "1.2"}
		expect(t, told, want...)
		s.restart()
		s.make(2, made)
		wire.Cut()
		want = append(want, "forget")
		for i := range made {
			want = append(want, fmt.Sprintf("2.%d", i))
		}
		expect(t, told, want...)
	}
}

// Where only a replay can be had, it shows another life too.
func TestFeedByReplayAloneSeesNewLife(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	s.make(1, 3)
	told, _ := s.wireTo(t, "", s.router.Addr())
	expect(t, told, "forget", "1.0", "1.1", "1.2")
	s.restart()
	s.make(2, 2)
	expect(t, told, "forget", "1.0", "1.1", "1.2", "forget", "2.0", "2.1")
}

// A stream that stalls and comes all at once is the same stream.
func TestFeedIsLate(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	wire, _ := s.far(t)
	told, _ := s.wireTo(t, "tcp://"+wire.Addr(), "")
	s.publish(1)
	expect(t, told, "forget", "1.0")
	release := wire.Hold()
	for range 5 {
		s.publish(1)
	}
	release()
	expect(t, told, "forget", "1.0", "1.1", "1.2", "1.3", "1.4", "1.5")
}

// A resync learns all anew over a new connection: also one on which nothing
// comes any more and nobody says so.
func TestFeedAnew(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	wire, _ := s.far(t)
	told, w := s.wireTo(t, "tcp://"+wire.Addr(), s.router.Addr())
	s.publish(1)
	expect(t, told, "forget", "1.0")
	wire.Pull()
	s.publish(1)
	wire.Plug()
	if !w.Resync() {
		t.Fatal("it cannot")
	}
	expect(t, told, "forget", "1.0", "forget", "1.0", "1.1")
	wait(t, "subscribed anew", func() bool { return s.pub.Subscribers() > 1 })
	s.publish(1)
	expect(t, told, "forget", "1.0", "forget", "1.0", "1.1", "1.2")
}

// The block size that an engine's events tell is what counts.
func TestFeedLearnsTheBlockSize(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sizes []int // when a store was handed on
	f := NewFleet(Options{})
	w := newWorker(f)
	f.o.OnKV = func(b turn.KVBatch) {
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, w.Info().Caps.BlockSize)
	}
	w.caps.BlockSize = usualBlock
	feed := newFeed(w, Seen{}, nil)
	feed.begin()
	feed.take(0, stores(32))
	feed.take(1, stores(48)) // another group's: what was told first stays
	feed.begin()
	feed.take(0, stores(48))
	if got := fmt.Sprint(sizes); got != "[64 32 32 32 48]" {
		t.Errorf("block sizes were %s", got)
	}
}

// stores is a batch that stores one block of n ids.
func stores(n int) []byte {
	b := append([]byte{0x93, 0xca, 0, 0, 0, 0, 0x91, 0x85}, "\xa4type\xabBlockStored\xacblock_hashes\x91\x07\xb1parent_block_hash\xc0\xa9token_ids"...)
	b = append(b, 0xdc, 0, byte(n))
	for i := range n {
		b = append(b, byte(i))
	}
	return append(append(b, "\xaablock_size"...), byte(n), 0)
}

// TestFeedKeepsUp has anything happen to a stream: what is known at the end is
// what the engine's present life told, without holes, to the last batch; and
// all of it from the first on, where a replay had it.
func TestFeedKeepsUp(t *testing.T) {
	t.Parallel()
	for _, replay := range []bool{true, false} {
		s := newStation(t)
		wire, _ := s.far(t)
		at := ""
		if replay {
			at = s.router.Addr()
		}
		rapid.Check(t, func(rt *rapid.T) {
			s.restart()
			life, whole := byte(1), replay
			wait(t, "the one before is gone", func() bool { return s.pub.Subscribers() == 0 })
			told, _, end := s.feed("tcp://"+wire.Addr(), at)
			defer end()
			if !replay { // what it misses now it never hears of
				wait(t, "subscribed", func() bool { return s.pub.Subscribers() > 0 })
			}
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				switch rapid.SampledFrom([]string{"publish", "publish", "publish", "lose", "twice", "late", "spoil", "restart", "let go"}).Draw(rt, "what") {
				case "publish":
					s.publish(life)
				case "lose":
					s.make(life, rapid.IntRange(1, 3).Draw(rt, "lost"))
				case "twice":
					if n := s.made(); n > 0 {
						s.again(rapid.Uint64Range(0, n-1).Draw(rt, "which"), nil)
					}
				case "late":
					s.make(life, 1)
					s.publish(life)
					s.again(s.made()-2, nil)
				case "spoil":
					s.make(life, 1)
					s.again(s.made()-1, func(b []byte) []byte { return b[:len(b)-1-rapid.IntRange(0, 20).Draw(rt, "cut")] })
					whole = false
				case "restart":
					s.restart()
					life++
					wire.Cut() // its sockets end with it
					if !replay {
						wait(t, "the old ones are gone", func() bool { return s.pub.Subscribers() == 0 })
						wait(t, "subscribed", func() bool { return s.pub.Subscribers() > 0 })
					}
					whole = replay
				case "let go":
					if n := s.made(); n > 0 {
						s.keep(rapid.Uint64Range(0, n-1).Draw(rt, "from"))
					}
					whole = false
				}
			}
			wait(t, "somebody listens", func() bool { return s.pub.Subscribers() > 0 })
			s.publish(life)
			last := fmt.Sprintf("%d.%d", life, s.made()-1)
			for end := time.Now().Add(8 * time.Second); ; {
				a := told()
				if len(a) > 0 && a[len(a)-1] == last {
					break
				}
				if time.Now().After(end) {
					rt.Fatalf("%s is never told, but %v", last, a)
				}
				<-time.After(time.Millisecond)
			}
			checkTold(rt, told(), life, s.made(), whole)
		})
	}
}

// checkTold holds what was told against what there was.
func checkTold(t *rapid.T, told []string, life byte, made uint64, whole bool) {
	var holds []string
	for _, word := range told {
		if word == "forget" {
			holds = nil
			continue
		}
		holds = append(holds, word)
	}
	if whole && uint64(len(holds)) != made {
		t.Errorf("%d of %d batches are known", len(holds), made)
	}
	for i, word := range holds {
		if want := fmt.Sprintf("%d.%d", life, int(made)-len(holds)+i); word != want {
			t.Fatalf("it holds %v of %d in life %d; of all told %v", holds, made, life, told)
		}
	}
}

func TestResyncWithoutFeed(t *testing.T) {
	t.Parallel()
	if newWorker(NewFleet(Options{})).Resync() {
		t.Error("a worker without a feed learns anew")
	}
}
