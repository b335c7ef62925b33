package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tableBlock is the tokens of a content where a format has lengths only.
const tableBlock = 16

// table reads CSV with a line of names: Azure's requests, TraceLab's rounds.
type table struct {
	col   map[string]int
	azure bool
	zero  time.Time
	rows  int
	head  bool // the line of names was read
	r     *rounds
}

// newTable looks at the line of names; nil is another format.
func newTable(head string) parser {
	t := &table{col: map[string]int{}}
	for i, name := range strings.Split(head, ",") {
		t.col[strings.TrimSpace(name)] = i
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := t.col[n]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("TIMESTAMP", "ContextTokens", "GeneratedTokens"):
		t.azure = true
		t.r = &rounds{t: &Trace{Format: "azure", Block: tableBlock, Timed: true}, by: map[string]int{}}
	case has("session_id", "prefix_len", "input_len", "output_len"):
		t.r = newRounds()
	default:
		return nil
	}
	return t
}

func (t *table) line(text []byte) error {
	if !t.head {
		t.head = true
		return nil
	}
	t.rows++
	cells := strings.Split(string(text), ",")
	if t.azure {
		return t.request(cells)
	}
	var r round
	var err error
	r.Session, r.Prefix, r.New, r.Output = t.cell(cells, "session_id"), t.whole(cells, "prefix_len", &err), t.whole(cells, "input_len", &err), t.whole(cells, "output_len", &err)
	r.wait = t.number(cells, "tool_wait_after_ms", &err) / 1000
	r.at = t.number(cells, "arrival_time", &err) / 1000
	if err != nil {
		return err
	}
	return t.r.add(&r)
}

func (t *table) end() (*Trace, error) { return t.r.end() }

// request takes a row of Azure's.
func (t *table) request(cells []string) error {
	at, err := time.Parse("2006-01-02 15:04:05.999999999", t.cell(cells, "TIMESTAMP"))
	if err != nil {
		return errors.New("TIMESTAMP is not like 2023-11-16 18:15:46.680")
	}
	if t.rows == 1 {
		t.zero = at
	}
	r := round{Session: strconv.Itoa(t.rows), at: max(at.Sub(t.zero).Seconds(), 0)}
	r.New, r.Output = t.whole(cells, "ContextTokens", &err), t.whole(cells, "GeneratedTokens", &err)
	if err != nil {
		return err
	}
	return t.r.add(&r)
}

func (t *table) cell(cells []string, name string) string {
	if i, ok := t.col[name]; ok && i < len(cells) {
		return strings.TrimSpace(cells[i])
	}
	return ""
}

// whole is a cell with a whole number; an error goes to err, if it has none.
func (t *table) whole(cells []string, name string, err *error) int {
	n, bad := strconv.Atoi(t.cell(cells, name))
	if bad != nil && *err == nil {
		*err = fmt.Errorf("%s %q is no whole number", name, t.cell(cells, name))
	}
	return n
}

// number is a cell with a number, 0 where it is empty or there is none.
func (t *table) number(cells []string, name string, err *error) float64 {
	text := t.cell(cells, name)
	if text == "" {
		return 0
	}
	x, bad := strconv.ParseFloat(text, 64)
	if bad != nil && *err == nil {
		*err = fmt.Errorf("%s %q is no number", name, text)
	}
	return x
}
