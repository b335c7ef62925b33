package main

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/engine/secret"
)

// logDoc is `dyn logs --json`; with -f there is one for each part of the log
// that came.
type logDoc struct {
	V     int      `json:"v"`
	Name  string   `json:"name"` // "daemon" or a worker's
	Path  string   `json:"path"`
	Lines []string `json:"lines"`
}

// logWriter prints a log without the keys in it. It holds a line back until it
// has its end, since a key may come in two parts.
type logWriter struct {
	out        io.Writer
	show       *jsonFlag
	name, path string
	run        string // folder of the run files, whose engines' keys are known
	held       []byte
}

// Write takes a part of the log.
func (w *logWriter) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	return len(p), nil
}

// flush prints the lines that are whole, or all there is. A progress bar's line
// is whole at each of its returns.
func (w *logWriter) flush(all bool) error {
	n := len(w.held)
	if !all {
		n = bytes.LastIndexAny(w.held, "\n\r") + 1
	}
	if n == 0 && (!w.show.on() || !all) {
		return nil
	}
	text := secret.Hide(string(w.held[:n]), w.known()...)
	w.held = w.held[n:]
	if !w.show.on() {
		_, err := io.WriteString(w.out, text)
		return err
	}
	lines := []string{}
	for line := range strings.Lines(text) {
		lines = append(lines, strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "\uFFFD"))
	}
	return w.show.print(w.out, logDoc{1, w.name, w.path, lines})
}

// known are the keys of the engines that run, and what this user's environment
// has of secrets, which a recipe may hand on.
func (w *logWriter) known() []string {
	all := secret.Environ(os.Environ())
	for _, r := range keep.List(w.run) {
		all = append(all, r.Key)
	}
	return all
}
