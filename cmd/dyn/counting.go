package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine/install"
)

// counting is a stage that shows how far it is. On a terminal its line is
// drawn anew, elsewhere it is printed once, when the stage is over. As JSON it
// is a line a second, and a last one.
type counting struct {
	stage, text string
	drawn       bool      // its line is on the terminal, without an end
	at          time.Time // when it was last told as JSON
	untold      *step     // what was not told since then
}

// tellEvery is how often a count is a JSON line.
const tellEvery = time.Second

// count shows how far a stage is. It is for one goroutine at a time.
func (s *steps) count(stage, text string, p install.Progress) {
	text = strings.TrimSpace(text + "  " + p.String())
	if s.json {
		s.tell(step{
			V: 1, Type: "progress", Stage: stage, Text: text, MS: s.elapsed(),
			Packages: p.Packages, TotalPackages: p.OfPackages, Bytes: p.Bytes, TotalBytes: p.OfBytes,
		})
		return
	}
	if s.counting.stage != stage {
		s.settle()
	}
	s.counting.stage, s.counting.text = stage, text
	width, tty := terminal(s.err)
	if !tty || os.Getenv("TERM") == "dumb" {
		return
	}
	line := stageLine(stage, text, s.elapsed(), width)
	if cut := []rune(line); len(cut) > width {
		line = string(cut[:width])
	}
	fmt.Fprint(s.err, "\r\x1b[K"+line)
	s.counting.drawn = true
}

// tell writes a count as JSON, unless one was written a moment ago.
func (s *steps) tell(st step) {
	c := &s.counting
	if c.stage != st.Stage {
		s.settle()
	}
	c.stage, c.untold = st.Stage, &st
	if time.Since(c.at) >= tellEvery {
		jsonLine(s.out, st)
		c.at, c.untold = time.Now(), nil
	}
}

// settle ends the line of a stage that counts.
func (s *steps) settle() {
	c := s.counting
	s.counting = counting{}
	switch {
	case c.stage == "":
	case c.untold != nil:
		jsonLine(s.out, *c.untold)
	case s.json:
	case c.drawn:
		fmt.Fprintln(s.err)
	default:
		fmt.Fprintln(s.err, s.line(c.stage, c.text, s.elapsed()))
	}
}
