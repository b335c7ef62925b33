package main

import (
	"fmt"
	"time"
)

// sheet collects rows.
type sheet struct {
	rows     []row
	versions []string // of what was run
	took     time.Duration
}

// row is one line of the table.
type row struct {
	engine string // "" is of dyn alone
	what   string // what was looked at
	seen   string // figures, in words
	state  state
}

// state is how a row came out.
type state string

const (
	good    state = "ok"
	bad     state = "FAILED"
	late    state = "LATE"
	skipped state = "NOT RUN"
	figure  state = "–" // nothing to be right or wrong
)

// add adds a row and prints it.
func (s *sheet) add(r row) {
	s.rows = append(s.rows, r)
	fmt.Printf("%-8s %-9s %s: %s\n", r.state, r.engine, r.what, r.seen)
}

// check adds a row that is right or not.
func (s *sheet) check(engine, what string, right bool, format string, args ...any) {
	r := row{engine, what, fmt.Sprintf(format, args...), good}
	if !right {
		r.state = bad
	}
	s.add(r)
}

// within adds a row that is right and may have taken too long, which is told
// and fails nothing: how fast this machine is is not for a test to judge.
func (s *sheet) within(engine, what string, took, limit time.Duration, format string, args ...any) {
	r := row{engine, what, fmt.Sprintf(format, args...), good}
	if took > limit {
		r.state = late
	}
	s.add(r)
}

// note adds a row of figures.
func (s *sheet) note(engine, what, format string, args ...any) {
	s.add(row{engine, what, fmt.Sprintf(format, args...), figure})
}

// skip adds a row of what could not be run.
func (s *sheet) skip(engine, what, format string, args ...any) {
	s.add(row{engine, what, fmt.Sprintf(format, args...), skipped})
}

// try does something, and adds a row if it fails.
func (s *sheet) try(engine, what string, do func() error) bool {
	err := do()
	if err != nil {
		s.check(engine, what, false, "%v", err)
	}
	return err == nil
}

// count is how many rows came out so.
func (s *sheet) count(as state) (n int) {
	for _, r := range s.rows {
		if r.state == as {
			n++
		}
	}
	return n
}
