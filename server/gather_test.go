package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// lumps is a stream that has several deltas after each read.
type lumps struct {
	left  [][]turn.Delta // one list a read
	ready []turn.Delta
	err   error
	reads int
}

func (l *lumps) Next() (turn.Delta, error) {
	if len(l.ready) == 0 {
		if len(l.left) == 0 {
			return turn.Delta{}, l.err
		}
		l.ready, l.left = l.left[0], l.left[1:]
		l.reads++
	}
	d := l.ready[0]
	l.ready = l.ready[1:]
	return d, nil
}
func (l *lumps) Buffered() bool { return len(l.ready) > 0 }
func (l *lumps) Close() error   { return nil }

func said(text string) turn.Delta { return turn.Delta{Text: text, IDs: []uint32{uint32(len(text))}} }

// TestGather: nothing of a stream is lost or moved by being taken in groups,
// the first token comes alone, and an error comes after what came before it.
func TestGather(t *testing.T) {
	broken := errors.New("broken")
	end := said("e")
	end.End = &turn.End{Reason: turn.Ended}
	for _, c := range []struct {
		name  string
		left  [][]turn.Delta
		err   error
		want  string // groups
		fails bool
	}{
		{"one by one", [][]turn.Delta{{said("a")}, {said("b")}, {end}}, nil, "a|b|e", false},
		{"groups", [][]turn.Delta{{said("a"), said("b"), said("c")}, {said("d"), end}}, nil, "a|bc|de", false},
		{"broken in a group", [][]turn.Delta{{said("a")}, {said("b"), said("c")}}, broken, "a|bc", true},
	} {
		f := &flight{s: &Server{}, ctx: t.Context()}
		f.s.streaming.Store(100)
		f.s.o.Gather = time.Microsecond
		g := f.gather(&lumps{left: c.left, err: c.err})
		var groups []string
		var err error
		for {
			var ds []turn.Delta
			if ds, err = g.next(); err != nil {
				break
			}
			text := ""
			for _, d := range ds {
				text += d.Text
			}
			groups = append(groups, text)
			if ds[len(ds)-1].End != nil {
				break
			}
		}
		if got := strings.Join(groups, "|"); got != c.want || errors.Is(err, broken) != c.fails {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
}

// TestGatherIsCut: the end of a flight does not wait for its window.
func TestGatherIsCut(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	f := &flight{s: &Server{}, ctx: ctx}
	f.s.streaming.Store(100)
	f.s.o.Gather = time.Hour
	g := f.gather(&lumps{left: [][]turn.Delta{{said("a")}, {said("b")}}})
	if _, err := g.next(); err != nil {
		t.Fatal(err)
	}
	cancel(errLeft)
	if _, err := g.next(); !errors.Is(err, errLeft) {
		t.Errorf("%v", err)
	}
}

func TestWindow(t *testing.T) {
	const most = 20 * time.Millisecond
	for n, want := range map[int]time.Duration{0: 0, 15: 0, 16: 5 * time.Millisecond, 27: 10 * time.Millisecond, 38: 15 * time.Millisecond, 48: most, 5000: most} {
		if got := windowOf(n, most); got != want {
			t.Errorf("%d streams: %v, want %v", n, got, want)
		}
	}
	if windowOf(100, 0) != 0 || windowOf(100, -1) > 0 {
		t.Error("turned off, tokens wait")
	}
}
