package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine/install"
)

// counting is a stage that shows how far it is. On a terminal its line is
// drawn anew, elsewhere it is printed once, when the stage is over.
type counting struct {
	stage, text string
	drawn       bool      // its line is on the terminal, without an end
	at          time.Time // when it was last told as JSON
}

// tellEvery is how often a count is a JSON line.
const tellEvery = time.Second

// count shows how far a stage is. It is for one goroutine at a time.
func (s *steps) count(stage, text string, p install.Progress) {
	if text = strings.TrimSpace(text + "  " + p.String()); s.json {
		again := s.counting.stage == stage && time.Since(s.counting.at) < tellEvery
		s.counting.stage, s.counting.text = stage, text
		if again {
			return
		}
		s.counting.at = time.Now()
		jsonLine(s.out, step{
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
	line := stageLine(stage, text, s.elapsed())
	if cut := []rune(line); len(cut) > width {
		line = string(cut[:width])
	}
	fmt.Fprint(s.err, "\r\x1b[K"+line)
	s.counting.drawn = true
}

// settle ends the line of a stage that counts.
func (s *steps) settle() {
	c := s.counting
	s.counting = counting{}
	switch {
	case s.json || c.stage == "":
	case c.drawn:
		fmt.Fprintln(s.err)
	default:
		fmt.Fprintln(s.err, stageLine(c.stage, c.text, s.elapsed()))
	}
}
