package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// What a trace may hold at most.
const (
	maxLine     = 64 << 20        // bytes
	maxTokens   = 4 << 20         // of a prompt or an answer
	maxTurns    = 4 << 20         // of a trace
	maxBlock    = 1 << 16         // tokens
	maxDuration = 400 * 24 * 3600 // seconds
)

// ErrFormat is in the chain when a file is no trace that is known.
var ErrFormat = errors.New("no trace format that is known")

// Open reads the trace at path.
func Open(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &turn.Fault{Op: "read trace", Err: err}
	}
	defer f.Close()
	return Read(filepath.Base(path), f)
}

// Read reads a trace; name is what it is called in errors and results.
func Read(name string, r io.Reader) (*Trace, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, &turn.Fault{Op: "read trace", Err: fmt.Errorf("%s: %w", name, err)}
		}
		in = bufio.NewReaderSize(z, 1<<16)
	}
	l := &lines{in: in}
	t, err := l.read(name)
	if err != nil {
		at := name
		if l.n > 0 {
			at = fmt.Sprintf("%s:%d", name, l.n)
		}
		fault := &turn.Fault{Op: "read trace", Err: fmt.Errorf("%s: %w", at, err)}
		if errors.Is(err, ErrFormat) {
			fault.Why = "known are Claude Code sessions (WEKA), Mooncake and Dynamo JSONL, Azure CSV, TraceLab CSV and JSONL"
		}
		return nil, fault
	}
	return t, nil
}

// parser takes the lines of one format in.
type parser interface {
	line(text []byte) error
	end() (*Trace, error)
}

// read finds the format by the first line and reads all lines.
func (l *lines) read(name string) (*Trace, error) {
	first, err := l.next()
	if err != nil {
		if err == io.EOF {
			err = fmt.Errorf("%w: it is empty", ErrFormat)
		}
		return nil, err
	}
	p := parserOf(first)
	if p == nil {
		return nil, ErrFormat
	}
	for text := first; err == nil; text, err = l.next() {
		if err := p.line(text); err != nil {
			return nil, plain(err)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	t, err := p.end()
	if err != nil {
		return nil, err
	}
	if t.Turns() == 0 {
		return nil, errors.New("the trace has no turns")
	}
	t.Name = name
	return t, nil
}

// plain says of a field of another kind which one it is, without names of ours.
func plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("%s: a %s cannot stand here", wrong.Field, wrong.Value)
	}
	return err
}

// parserOf tells the formats apart.
func parserOf(first []byte) parser {
	if len(first) > 0 && first[0] != '{' {
		return newTable(strings.TrimPrefix(string(first), "\ufeff"))
	}
	for _, f := range []struct {
		has string
		new func() parser
	}{
		{`"requests"`, func() parser { return newClaude() }},
		{`"newly_append_tokens"`, func() parser { return newRounds() }},
		{`"input_length"`, func() parser { return newMooncake() }},
	} {
		if bytes.Contains(first, []byte(f.has)) {
			return f.new()
		}
	}
	return nil
}

// lines are the lines of a text that are not empty, with their numbers.
type lines struct {
	in  *bufio.Reader
	n   int
	buf []byte
}

// next returns the next line without white space around it; it holds until
// the next call. io.EOF is the end.
func (l *lines) next() ([]byte, error) {
	for {
		l.buf = l.buf[:0]
		l.n++
		for {
			part, err := l.in.ReadSlice('\n')
			l.buf = append(l.buf, part...)
			if len(l.buf) > maxLine {
				return nil, fmt.Errorf("the line has more than %d MiB", maxLine>>20)
			}
			if err == nil {
				break
			}
			if err == bufio.ErrBufferFull {
				continue
			}
			if err == io.EOF && len(bytes.TrimSpace(l.buf)) > 0 {
				break
			}
			return nil, err
		}
		if text := bytes.TrimSpace(l.buf); len(text) > 0 {
			return text, nil
		}
	}
}

// tokens checks a number of tokens.
func tokens(what string, n int) error {
	if n < 0 || n > maxTokens {
		return fmt.Errorf("%s %d is not between 0 and %d", what, n, maxTokens)
	}
	return nil
}

// seconds makes a time of seconds.
func seconds(what string, s float64) (time.Duration, error) {
	if !(s >= 0 && s <= maxDuration) { // NaN is neither
		return 0, fmt.Errorf("%s %v s is not between 0 and 400 days", what, s)
	}
	return time.Duration(s * float64(time.Second)), nil
}
