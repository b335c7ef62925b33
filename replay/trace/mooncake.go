package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// mooncakeBlock is the tokens of a content in Mooncake's files.
const mooncakeBlock = 512

// mooncake reads Mooncake's and Dynamo's JSONL, a request a line. Rows of one
// session are its turns, in the order of the file.
type mooncake struct {
	t     *Trace
	by    map[string]int      // session by its id
	last  map[int][]uint64    // contents of its last turn
	first time.Duration       // the first timestamp
	made  map[string]struct{} // request ids
	rows  int
}

func newMooncake() *mooncake {
	return &mooncake{
		t:  &Trace{Format: "mooncake", Block: mooncakeBlock, Timed: true},
		by: map[string]int{}, last: map[int][]uint64{}, made: map[string]struct{}{}, first: -1,
	}
}

// mooncakeRow is a line. Rows of agents have a session, and a pause in place
// of a time.
type mooncakeRow struct {
	Timestamp *float64 `json:"timestamp"` // ms
	Input     int      `json:"input_length"`
	Output    int      `json:"output_length"`
	IDs       []uint64 `json:"hash_ids"`
	Session   string   `json:"session_id"`
	Request   string   `json:"request_id"`
	Delay     float64  `json:"delay"`        // ms after the turn before
	Wait      float64  `json:"tool_wait_ms"` // the same, of a tool
	Reset     bool     `json:"prefix_reset"`
}

func (m *mooncake) line(text []byte) error {
	var r mooncakeRow
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	if m.rows++; m.rows > maxTurns {
		return fmt.Errorf("more than %d turns", maxTurns)
	}
	if err := errors.Join(tokens("input_length", r.Input), tokens("output_length", r.Output)); err != nil {
		return err
	}
	if len(r.IDs) > r.Input/mooncakeBlock+1 {
		return fmt.Errorf("%d hash_ids for %d tokens", len(r.IDs), r.Input)
	}
	if r.Request != "" {
		if _, ok := m.made[r.Request]; ok {
			return fmt.Errorf("request_id %q comes twice", r.Request)
		}
		m.made[r.Request] = struct{}{}
	}
	u := Turn{Prompt: max(r.Input, 1), Output: max(r.Output, 1)}
	var err error
	if u.Pause, err = seconds("delay", (r.Delay+r.Wait)/1000); err != nil {
		return err
	}
	at := time.Duration(-1)
	if r.Timestamp != nil {
		if at, err = seconds("timestamp", *r.Timestamp/1000); err != nil {
			return err
		}
	}
	return m.add(&r, u, at)
}

// add puts a turn into its session.
func (m *mooncake) add(r *mooncakeRow, u Turn, at time.Duration) error {
	if m.first < 0 {
		m.first = max(at, 0)
	}
	at -= m.first
	me, known := m.by[r.Session]
	if r.Session == "" {
		known = false
	}
	if !known {
		me = len(m.t.Sessions)
		id := r.Session
		if id == "" {
			id = fmt.Sprintf("r%d", m.rows)
		} else {
			m.by[id] = me
			m.t.Paused = true
		}
		m.t.Sessions = append(m.t.Sessions, Session{ID: id, At: max(at, 0)})
	}
	s := &m.t.Sessions[me]
	u.At = max(at-s.At, 0)
	if known && u.Pause == 0 && r.Timestamp != nil {
		u.Pause = max(u.At-s.Turns[len(s.Turns)-1].At, 0)
	}
	before := m.last[me]
	for u.Keep < min(len(before), len(r.IDs)) && before[u.Keep] == r.IDs[u.Keep]|Common {
		u.Keep++
	}
	for _, id := range r.IDs[u.Keep:] {
		if id >= Common-1<<32 {
			return fmt.Errorf("hash id %d is too large", id)
		}
		if n := len(u.Runs); n > 0 && u.Runs[n-1].First+uint64(u.Runs[n-1].N) == id|Common {
			u.Runs[n-1].N++
		} else {
			u.Runs = append(u.Runs, Run{id | Common, 1})
		}
	}
	if r.Session != "" {
		m.last[me] = u.Contents(slices.Clone(before))
	}
	s.Turns = append(s.Turns, u)
	return nil
}

func (m *mooncake) end() (*Trace, error) { return m.t, nil }
