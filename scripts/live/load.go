package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
)

// shrink is what recorded lengths are divided by.
const shrink = 4

// What a session has at least, how long its prompts get and how long its
// clients pause at most, as recorded; and about how long an answer takes.
const (
	fewest     = 3 // turns
	maxContext = 120_000
	maxPause   = time.Minute
	answering  = 3 * time.Second
)

// load are sessions for a run: so many alive at any time, each of the first
// somewhere in its first two thirds, and the next in its place about when it
// ends. Times are of the machine's clock.
func load(t *trace.Trace, seed uint64, alive int, speed float64, ramp, lasts time.Duration) (*trace.Trace, error) {
	if t.Block%shrink != 0 {
		return nil, fmt.Errorf("blocks of %d tokens cannot be divided by %d", t.Block, shrink)
	}
	r := rand.New(rand.NewPCG(seed, 5))
	var fit []int
	for i := range t.Sessions {
		if s := &t.Sessions[i]; s.Parent == 0 && turns(s) >= fewest && s.Turns[0].Prompt <= maxContext/2 {
			fit = append(fit, i)
		}
	}
	r.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	out := &trace.Trace{Name: t.Name, Format: t.Format, Block: t.Block / shrink, Timed: true, Paused: true}
	for range alive {
		at := time.Duration(r.Float64() * float64(ramp))
		for first := true; at < lasts; first = false {
			if len(fit) == 0 {
				return nil, fmt.Errorf("%s has too few sessions", t.Name)
			}
			s := &t.Sessions[fit[0]]
			fit = fit[1:]
			skip := 0
			if first {
				skip = r.IntN(turns(s) * 2 / 3)
			}
			out.Sessions = append(out.Sessions, cut(s, skip, speed, at))
			for _, u := range out.Sessions[len(out.Sessions)-1].Turns {
				at += u.Pause + time.Duration(float64(answering)/speed)
			}
		}
	}
	return out, nil
}

// turns is how many of a session's turns are played.
func turns(s *trace.Session) int {
	for i := range s.Turns {
		if s.Turns[i].Prompt > maxContext {
			return i
		}
	}
	return len(s.Turns)
}

// cut is a session without its first turns, smaller and faster.
func cut(s *trace.Session, skip int, speed float64, at time.Duration) trace.Session {
	out := trace.Session{ID: s.ID, At: at, Prefix: s.Prefix, Shared: s.Shared / shrink}
	var line []uint64
	for i := range turns(s) {
		u := s.Turns[i]
		line = u.Contents(line)
		if i < skip {
			continue
		}
		if i == skip {
			u.Keep, u.Runs, u.Pause = 0, runs(line), 0
		}
		u.At, u.Pause = 0, time.Duration(float64(min(u.Pause, maxPause))/speed)
		u.Prompt, u.Output = max(u.Prompt/shrink, 1), max(u.Output/shrink, 1)
		out.Turns = append(out.Turns, u)
	}
	return out
}

// runs are contents as runs.
func runs(line []uint64) (list []trace.Run) {
	for _, c := range line {
		if n := len(list) - 1; n >= 0 && list[n].First+uint64(list[n].N) == c {
			list[n].N++
		} else {
			list = append(list, trace.Run{First: c, N: 1})
		}
	}
	return list
}
