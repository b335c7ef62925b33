package core

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/engine/sim/pace"
	"github.com/agentinfer/dyn/prompt/bpe"
)

var ours = sync.OnceValue(func() *bpe.Tokenizer {
	data, err := fs.ReadFile(model.FS(), "tokenizer.json")
	if err != nil {
		panic(err)
	}
	tok, err := bpe.Read(data)
	if err != nil {
		panic(err)
	}
	return tok
})

// run starts an engine on a cache of 100 blocks of 16 tokens.
func run(t *testing.T, change func(*Config)) *Engine {
	t.Helper()
	end, _ := ours().ID("<|im_end|>")
	cfg := Config{
		Blocks: 101, BlockSize: 16, Budget: 8192, Slots: 8, Tokenizer: ours(), End: end, Filler: 1, Speed: 1,
		Profile: pace.Profile{Fixed: 10, Token: 0.1},
	}
	if change != nil {
		change(&cfg)
	}
	e := New(cfg)
	over := make(chan struct{})
	go func() { defer close(over); e.Run() }()
	t.Cleanup(func() { e.Die(); <-over })
	return e
}

func prompt(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}

func say(ids ...uint32) brain.Answer { return brain.Answer{IDs: ids} }

func submit(t *testing.T, e *Engine, ask Ask) *Answer {
	t.Helper()
	if ask.MaxTokens == 0 {
		ask.MaxTokens = 100
	}
	a, err := e.Submit(&ask)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// whole reads an answer to its end.
func whole(t *testing.T, a *Answer) Piece {
	t.Helper()
	var all, p Piece
	for all.End == nil {
		if err := a.Next(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		all.IDs = append(all.IDs, p.IDs...)
		all.Text = append(all.Text, p.Text...)
		all.End, all.Cached = p.End, p.Cached
	}
	return all
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, nil)
		began := time.Now()
		p := whole(t, submit(t, e, Ask{Prompt: prompt(100), Script: say(5, 6)}))
		// 100 prompt tokens: 10 + 10 ms; then two steps of 10 ms.
		if took := time.Since(began); took != 40*time.Millisecond || len(p.IDs) != 3 {
			t.Errorf("took %v for %v", took, p.IDs)
		}
		began = time.Now()
		p = whole(t, submit(t, e, Ask{Prompt: prompt(100), Script: say(5, 6)}))
		// 96 of them are cached now.
		if took := time.Since(began); took != 30*time.Millisecond+400*time.Microsecond || p.Cached != 96 {
			t.Errorf("took %v with %d cached", took, p.Cached)
		}
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, func(c *Config) { c.Speed = 0 })
		began := time.Now()
		a := say(1, 2, 3)
		a.Pause = 50 * time.Millisecond
		slow := submit(t, e, Ask{Prompt: prompt(5), Script: a})
		whole(t, submit(t, e, Ask{Prompt: prompt(9), Script: say(1, 2, 3)}))
		if took := time.Since(began); took != 0 {
			t.Errorf("a paced answer held up another for %v", took)
		}
		whole(t, slow)
		if took := time.Since(began); took != 150*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

func TestEnds(t *testing.T) {
	e := run(t, func(c *Config) { c.Speed = 0 })
	for _, c := range []struct {
		name  string
		ask   Ask
		want  End
		count int
	}{
		{"end token", Ask{Script: say(5, 6)}, End{Stopped, "", -1}, 3},
		{"nothing to say", Ask{Script: say()}, End{Stopped, "", -1}, 1},
		{"limit", Ask{Script: say(5, 6), MaxTokens: 2}, End{Length, "", -1}, 2},
		{"end ignored", Ask{Script: say(5, 6), MaxTokens: 7, IgnoreEnd: true}, End{Length, "", -1}, 7},
		{"end ignored, nothing to say", Ask{Script: say(), MaxTokens: 7, IgnoreEnd: true}, End{Length, "", -1}, 7},
		{"stop id", Ask{Script: say(5, 6, 7), StopIDs: []uint32{6}}, End{Stopped, "", 6}, 2},
		{"not yet", Ask{Script: say(5, 6, 7), StopIDs: []uint32{6}, MinTokens: 4}, End{Stopped, "", -1}, 5},
		{"never", Ask{Script: say(6), StopIDs: []uint32{6}, MinTokens: 4, MaxTokens: 4}, End{Length, "", -1}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.ask.Prompt = prompt(5)
			got := whole(t, submit(t, e, c.ask))
			if *got.End != c.want || len(got.IDs) != c.count {
				t.Errorf("want %+v after %d, got %+v after %v", c.want, c.count, *got.End, got.IDs)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault brain.Fault
		want  error
	}{
		{brain.Close, ErrCut}, {brain.Engine, ErrDead}, {brain.Crash, ErrDead}, {brain.Stall, context.DeadlineExceeded},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := run(t, nil)
				s := say(1, 2, 3, 4)
				s.Fault, s.After = c.fault, 2
				a := submit(t, e, Ask{Prompt: prompt(5), Script: s})
				ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
				defer cancel()
				var p Piece
				var err error
				for n := 0; ; n += len(p.IDs) {
					if err = a.Next(ctx, &p); err != nil {
						if n != 2 {
							t.Errorf("want 2 tokens before the fault, got %d", n)
						}
						break
					}
				}
				if !errors.Is(err, c.want) {
					t.Errorf("want %v, got %v", c.want, err)
				}
				a.Drop()
			})
		})
	}
}

// TestSlowReader: an answer that nobody reads holds up nobody, and comes in
// one piece when it is read.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, nil)
		lazy := submit(t, e, Ask{Prompt: prompt(5), Script: say(1, 2), MaxTokens: 50, IgnoreEnd: true})
		whole(t, submit(t, e, Ask{Prompt: prompt(9), Script: say(1, 2), MaxTokens: 60, IgnoreEnd: true}))
		var p Piece
		if err := lazy.Next(context.Background(), &p); err != nil || p.End == nil || len(p.IDs) != 50 {
			t.Errorf("got %d ids, end %v, %v", len(p.IDs), p.End, err)
		}
	})
}

func TestDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, nil)
		a := submit(t, e, Ask{Prompt: prompt(500), Script: say(1), MaxTokens: 500, IgnoreEnd: true})
		var p Piece
		if err := a.Next(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		if st := e.Stats(); st.Running != 1 || st.Usage == 0 {
			t.Errorf("running %d, usage %v", st.Running, st.Usage)
		}
		a.Drop()
		a.Drop()
		time.Sleep(20 * time.Millisecond) // two steps, in the bubble's time
		if st := e.Stats(); st.Running+st.Waiting != 0 || st.Usage != 0 {
			t.Errorf("running %d, waiting %d, usage %v", st.Running, st.Waiting, st.Usage)
		}
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, func(c *Config) { c.MaxOpen = 1 })
		a := submit(t, e, Ask{Prompt: prompt(5), Script: say(1), MaxTokens: 10, IgnoreEnd: true})
		if _, err := e.Submit(&Ask{Prompt: prompt(5), MaxTokens: 1}); !errors.Is(err, ErrBusy) {
			t.Errorf("want busy, got %v", err)
		}
		e.Drain()
		if _, err := e.Submit(&Ask{Prompt: prompt(5), MaxTokens: 1}); !errors.Is(err, ErrDraining) {
			t.Errorf("want draining, got %v", err)
		}
		if p := whole(t, a); len(p.IDs) != 10 {
			t.Errorf("the running answer has %d ids", len(p.IDs))
		}
		if err := e.Idle(context.Background()); err != nil {
			t.Error(err)
		}
		if e.Stats().Rejected != 1 {
			t.Errorf("rejected %d", e.Stats().Rejected)
		}
	})
}

// A reader who is awake when the last token is made must not see it before
// the engine has counted it: who asks for the numbers then would read a
// request that still runs.
func TestNothingIsReadBeforeItIsCounted(t *testing.T) {
	e := run(t, func(c *Config) { c.Speed = 0 })
	for range 300 {
		whole(t, submit(t, e, Ask{Prompt: prompt(20), Script: say(5), IgnoreEnd: true, MaxTokens: 60}))
		if s := e.Stats(); s.Running != 0 {
			t.Fatalf("the answer has ended, and %d run", s.Running)
		}
	}
}
