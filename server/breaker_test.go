package server

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// TestBrokenGetsNoTurns: a worker that says it is ready and fails its turns
// gets no more of them, and it is said why; after its pause one turn shows
// whether it works.
func TestBrokenGetsNoTurns(t *testing.T) {
	var asked, whole atomic.Int32
	broken := &puppet{name: "broken", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		asked.Add(1)
		if whole.Load() > 0 {
			return aWord(ctx, j)
		}
		return nil, fmt.Errorf("HTTP 500: %w", turn.ErrLost)
	}}
	st := newStage(t, broken)
	began := time.Now()
	for range 3 {
		if status, _ := st.post(t.Context(), chatPath, says("hi", "")); status == 200 {
			t.Fatal("a broken worker answers")
		}
	}
	if why := st.s.Snapshot().Workers[0].Why; !strings.Contains(why, "failed in a row: HTTP 500") {
		t.Errorf("why: %q", why)
	}
	st.s.Update(&puppet{name: "whole", caps: caps(1000), play: aWord})
	before := asked.Load()
	for range 8 {
		if status, body := st.post(t.Context(), chatPath, says("hi", "")); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	}
	got, trials := asked.Load()-before, int32(0)
	for pause, left := time.Second, time.Since(began); left >= pause; pause *= 2 { // it may have ended meanwhile
		trials, left = trials+1, left-pause
	}
	if got > trials {
		t.Errorf("the broken worker was asked %d times, want at most %d", got, trials)
	}

	whole.Store(1)
	st.s.Remove("whole")
	if status, body := st.post(t.Context(), chatPath, says("hi", "")); status != 200 { // waits for the trial
		t.Errorf("after its pause: %d %s", status, body)
	}
	st.until("it is as before", func() bool { return st.s.Snapshot().Workers[0].Why == "" })
}

// TestBusyIsNotBroken: a worker that has no room is asked again and again.
func TestBusyIsNotBroken(t *testing.T) {
	var asked atomic.Int32
	st := newStage(t, &puppet{name: "busy", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		if asked.Add(1) < 6 {
			return nil, fmt.Errorf("HTTP 503: %w: %w", turn.ErrBusy, turn.ErrLost)
		}
		return aWord(ctx, j)
	}})
	if status, body := st.post(t.Context(), chatPath, says("hi", "")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if why := st.s.Snapshot().Workers[0].Why; why != "" {
		t.Errorf("why: %q", why)
	}
}
