package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// step is one line of progress of `dyn up`: what a stage found, with the time
// since the start. It is also the JSON line that scripts read.
type step struct {
	V       int     `json:"v"`
	Type    string  `json:"type"`  // "progress" or "done"
	Stage   string  `json:"stage"` // plan, fetch, start, load, warm, ready; of an installation its own
	Worker  string  `json:"worker,omitempty"`
	Text    string  `json:"text"`
	MS      float64 `json:"ms"`
	State   string  `json:"state,omitempty"` // with done: "started", "already_running" or "attached"
	URL     string  `json:"url,omitempty"`
	Model   string  `json:"model,omitempty"`
	Context int     `json:"context_tokens,omitempty"`
	Workers int     `json:"workers,omitempty"`
	PID     int     `json:"pid,omitempty"`

	Packages      int   `json:"packages,omitempty"`
	TotalPackages int   `json:"packages_total,omitempty"`
	Bytes         int64 `json:"bytes,omitempty"`
	TotalBytes    int64 `json:"bytes_total,omitempty"`
}

// steps shows progress: stages on standard error, the result on standard
// output; with JSON, one object per line on standard output.
type steps struct {
	out, err io.Writer
	json     bool
	began    time.Time
	counting counting
}

func newSteps(a *app, show *jsonFlag) *steps {
	return &steps{out: a.out, err: a.err, json: show.on(), began: time.Now()}
}

// stage tells of a stage that starts or has found something.
func (s *steps) stage(name, worker, text string) {
	s.show(step{V: 1, Type: "progress", Stage: name, Worker: worker, Text: text, MS: s.elapsed()})
}

// finish tells the result.
func (s *steps) finish(st step) {
	st.V, st.Type, st.Stage, st.MS = 1, "done", "ready", s.elapsed()
	s.show(st)
}

func (s *steps) elapsed() float64 { return float64(time.Since(s.began).Microseconds()) / 1000 }

// show prints one step, made here or by the daemon that was started.
func (s *steps) show(st step) {
	s.settle()
	if s.json {
		jsonLine(s.out, st)
		return
	}
	if st.Type != "done" {
		text := st.Text
		if st.Worker != "" {
			text = strings.TrimSpace(st.Worker + "  " + text)
		}
		fmt.Fprintln(s.err, s.line(st.Stage, text, st.MS))
		return
	}
	head := map[string]string{"started": "ready", "already_running": "already running", "attached": "attached"}[st.State]
	facts := []string{head, st.URL, st.Model}
	if st.Context > 0 {
		facts = append(facts, count(st.Context)+" context")
	}
	facts = append(facts, plural(st.Workers, "worker"))
	fmt.Fprintf(s.out, "  %s\n", strings.Join(facts, "   "))
	if st.Context > 0 && st.Context < claudeNeeds {
		next(&app{out: s.out}, `dyn run "hello"`, "its first answer", "dyn top", "watch it", "dyn down", "stop it")
		return
	}
	next(&app{out: s.out}, "dyn claude", "start Claude Code on it", "dyn top", "watch it", "dyn down", "stop it")
}

// line is a stage's line on the screen, which may be narrow.
func (s *steps) line(stage, text string, at float64) string {
	columns, tty := terminal(s.err)
	if !tty {
		columns = 90
	}
	return stageLine(stage, text, at, columns)
}

// stageLine keeps the times below each other, whatever a stage's name, and
// within so many columns if the text lets it.
func stageLine(stage, text string, at float64, columns int) string {
	room := min(68, columns-20) - max(0, len(stage)-6)
	return fmt.Sprintf("  %-6s  %-*s  %s", stage, max(0, room), text, ms(at))
}

// jsonLine writes one object on a line of its own.
func jsonLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
