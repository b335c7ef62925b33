package trace

import (
	"encoding/json"
	"errors"
	"fmt"
)

// rounds reads TraceLab's rounds, and whatever else has lengths of a prefix
// and of what is added to it.
type rounds struct {
	t    *Trace
	by   map[string]int // session by its id
	wait []float64      // what its last round said about the pause after it, s
	rows int
}

func newRounds() *rounds {
	return &rounds{t: &Trace{Format: "tracelab", Block: tableBlock, Paused: true}, by: map[string]int{}}
}

// round is a row.
type round struct {
	Session string  `json:"session_id"`
	Prefix  int     `json:"prefix_tokens"`
	New     int     `json:"newly_append_tokens"`
	Output  int     `json:"output_tokens"`
	Users   int     `json:"current_user_message_count"`
	Tools   []wall  `json:"tools"`
	at      float64 // s
	wait    float64 // pause after it, s
}

// wall is a tool's time.
type wall struct {
	MS float64 `json:"tool_wall_latency_ms"`
}

func (r *rounds) line(text []byte) error {
	var row round
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	for _, tool := range row.Tools { // they run side by side
		row.wait = max(row.wait, tool.MS/1000)
	}
	return r.add(&row)
}

func (r *rounds) end() (*Trace, error) { return r.t, nil }

// add puts a row into its session.
func (r *rounds) add(row *round) error {
	if r.rows++; r.rows > maxTurns {
		return fmt.Errorf("more than %d turns", maxTurns)
	}
	err := errors.Join(tokens("prefix", row.Prefix), tokens("new tokens", row.New), tokens("output", row.Output))
	if err != nil {
		return err
	}
	me, known := r.by[row.Session]
	if !known {
		at, err := seconds("arrival", row.at)
		if err != nil {
			return err
		}
		me = len(r.t.Sessions)
		r.by[row.Session] = me
		r.t.Sessions = append(r.t.Sessions, Session{ID: row.Session, At: at})
		r.wait = append(r.wait, 0)
		r.t.Timed = r.t.Timed || row.at > 0
	}
	s := &r.t.Sessions[me]
	u := Turn{Prompt: max(row.Prefix+row.New, 1), Output: max(row.Output, 1), Human: row.Users > 0}
	if u.Pause, err = seconds("wait", r.wait[me]); err != nil {
		return err
	}
	r.wait[me] = row.wait
	had := 0
	if n := len(s.Turns); n > 0 {
		last := &s.Turns[n-1]
		had = last.Len()
		u.At = last.At + u.Pause
	}
	u.Keep = min(row.Prefix/tableBlock, had)
	if n := u.Prompt/tableBlock - u.Keep; n > 0 {
		u.Runs = []Run{{uint64(me+1)<<32 | uint64(len(s.Turns))<<20&(1<<32-1) + uint64(u.Keep), n}}
	}
	s.Turns = append(s.Turns, u)
	return nil
}
