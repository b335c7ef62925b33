package trace

import (
	"encoding/json"
	"errors"
	"fmt"
)

// claude reads sessions of Claude Code, one JSON object a line.
type claude struct {
	t     *Trace
	turns int
}

func newClaude() *claude {
	return &claude{t: &Trace{Format: "claude-code", Timed: false, Paused: true}}
}

// claudeSession is a line, or a sub-agent inside of one.
type claudeSession struct {
	ID       string          `json:"id"`
	Agent    string          `json:"agent_id"`
	Block    int             `json:"block_size"`
	Tools    int             `json:"tool_tokens"`
	System   int             `json:"system_tokens"`
	T        float64         `json:"t"`
	Requests []claudeRequest `json:"requests"`
}

// claudeRequest is a request, or a sub-agent in its place.
type claudeRequest struct {
	Type  string      `json:"type"`
	In    int         `json:"in"`
	Out   int         `json:"out"`
	Stop  string      `json:"stop"`
	Think float64     `json:"think_time"`
	Delta claudeDelta `json:"h"`
	IDs   []int64     `json:"hash_ids"`
	claudeSession
}

// claudeDelta is [keep, [[first, n], …]].
type claudeDelta struct {
	given bool
	keep  int
	runs  [][2]int64
}

// UnmarshalJSON reads the pair.
func (d *claudeDelta) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return errors.New("h is not [keep, [[first, n], …]]")
	}
	if err := json.Unmarshal(pair[0], &d.keep); err != nil {
		return err
	}
	d.given = true
	return json.Unmarshal(pair[1], &d.runs)
}

func (c *claude) line(text []byte) error {
	var s claudeSession
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if s.Block < 1 || s.Block > maxBlock {
		return fmt.Errorf("block_size %d is not between 1 and %d", s.Block, maxBlock)
	}
	if c.t.Block == 0 {
		c.t.Block = s.Block
	}
	if s.Block != c.t.Block {
		return fmt.Errorf("block_size %d after %d", s.Block, c.t.Block)
	}
	return c.add(&s, 0, 0)
}

func (c *claude) end() (*Trace, error) { return c.t, nil }

// add makes a session; parent is its parent as index+1.
func (c *claude) add(s *claudeSession, parent, after int) error {
	if s.Tools < 0 || s.System < 0 || s.Tools+s.System > maxTokens {
		return fmt.Errorf("tool_tokens %d, system_tokens %d make no prefix", s.Tools, s.System)
	}
	at, err := seconds("t", s.T)
	if err != nil {
		return err
	}
	me := len(c.t.Sessions)
	c.t.Sessions = append(c.t.Sessions, Session{
		ID: s.ID, At: at, Parent: parent, After: after, Shared: s.Tools + s.System,
		Prefix: Mix(uint64(s.Tools)+1, uint64(s.System)+1),
	})
	if s.ID == "" {
		c.t.Sessions[me].ID = c.t.Sessions[max(parent-1, 0)].ID + "/" + s.Agent
	}
	line := claudeLine{of: uint64(me+1) << 32, block: c.t.Block, tools: s.Tools, all: s.Tools + s.System}
	ended := false
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Type == "subagent" {
			if parent > 0 {
				return errors.New("a sub-agent has a sub-agent")
			}
			if err := c.add(&r.claudeSession, me+1, len(c.t.Sessions[me].Turns)); err != nil {
				return err
			}
			continue
		}
		u, err := line.turn(r)
		if err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		if c.turns++; c.turns > maxTurns {
			return fmt.Errorf("more than %d turns", maxTurns)
		}
		u.Human = ended
		ended = r.Stop != "tool_use"
		c.t.Sessions[me].Turns = append(c.t.Sessions[me].Turns, u)
	}
	return nil
}

// claudeLine is what a session's turns have in common.
type claudeLine struct {
	of     uint64  // marks the contents of the session
	block  int     // tokens
	tools  int     // tokens of the tools
	all    int     // and of the system prompt
	before []int64 // ids of the turn before, where they are listed
	n      int     // contents of the turn before
}

// turn makes a turn of a request.
func (l *claudeLine) turn(r *claudeRequest) (u Turn, err error) {
	if err = errors.Join(tokens("in", r.In), tokens("out", r.Out)); err != nil {
		return u, err
	}
	u = Turn{Prompt: max(r.In, 1), Output: max(r.Out, 1)}
	if u.At, err = seconds("t", r.T); err != nil {
		return u, err
	}
	if u.Pause, err = seconds("think_time", r.Think); err != nil {
		return u, err
	}
	d := r.Delta
	if !d.given {
		d = difference(l.before, r.IDs)
		l.before = r.IDs
	}
	if d.keep < 0 || d.keep > l.n {
		return u, fmt.Errorf("keeps %d blocks of %d", d.keep, l.n)
	}
	u.Keep = d.keep
	at := d.keep
	for _, run := range d.runs {
		if run[0] < 0 || run[0] >= 1<<31 || run[1] < 0 || int(run[1]) > u.Prompt/l.block+1-at {
			return u, fmt.Errorf("run %v does not fit a prompt of %d tokens", run, u.Prompt)
		}
		u.Runs = l.run(u.Runs, at, uint64(run[0]), int(run[1]))
		at += int(run[1])
	}
	l.n = at
	return u, nil
}

// run appends n contents at block at, split where what sessions share ends.
func (l *claudeLine) run(dst []Run, at int, first uint64, n int) []Run {
	for n > 0 {
		part, r := n, Run{First: l.of | first}
		if tools, all := l.tools/l.block, l.all/l.block; at < tools {
			part, r.First = min(n, tools-at), common(l.tools, 0, at)
		} else if at < all {
			part, r.First = min(n, all-at), common(l.tools, l.all-l.tools+1, at)
		}
		r.N = part
		dst = append(dst, r)
		at, first, n = at+part, first+uint64(part), n-part
	}
	return dst
}

// common is the content at block at of a prefix that sessions share.
func common(tools, system, at int) uint64 {
	return Common | Mix(uint64(tools), uint64(system))&^(1<<24-1)&^Common | uint64(at)
}

// difference is how a list of ids goes on from another.
func difference(before, ids []int64) (d claudeDelta) {
	for d.keep < min(len(before), len(ids)) && before[d.keep] == ids[d.keep] {
		d.keep++
	}
	for _, id := range ids[d.keep:] {
		if n := len(d.runs); n > 0 && d.runs[n-1][0]+d.runs[n-1][1] == id {
			d.runs[n-1][1]++
		} else {
			d.runs = append(d.runs, [2]int64{id, 1})
		}
	}
	return d
}
