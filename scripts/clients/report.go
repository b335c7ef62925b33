package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// The states of a cell.
const (
	success = "ok"
	failure = "FAILED"
	skipped = "SKIPPED"
	none    = "none" // there is no such case
)

// report is the outcome of one cell, a line of a results file.
type report struct {
	Subject string  `json:"subject"`
	Version string  `json:"version"`
	Case    string  `json:"case"`
	State   string  `json:"state"`
	Note    string  `json:"note"`
	Seconds float64 `json:"seconds"`
	Family  bool    `json:"family,omitempty"` // the case is one of a family
}

func (r report) String() string {
	mark := ""
	if r.State == skipped {
		mark = "!! "
	}
	return fmt.Sprintf("%s%s: %s %s, %s: %s (%.0f s)", mark, r.State, r.Subject, r.Version, r.Case, r.Note, r.Seconds)
}

// append adds the report to a file; without a name it does nothing.
func (r report) append(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(data, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
