package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// head is what the head of an answer says. Its lines are read where they lie:
// of some ten of them three matter, and a map of all is more work than what
// stands in it is worth.
type head struct {
	status  int
	reason  string // the status with its words, such as "404 Not Found"
	length  int64  // of the body; -1 where no length is told
	chunked bool
	keep    bool // the connection may be used again after the body
}

const headMost = 256 << 10 // bytes of an answer's head, and of those before it

var (
	errHead  = errors.New("the head of the answer is over 256 KiB")
	errField = errors.New("malformed header line")
)

// head reads the head of an answer, and passes those by that only say that it
// comes. An answer whose end could be read in two ways, here and elsewhere, is
// an error.
func (k *conn) head() (head, error) {
	for left := headMost; ; {
		h, err := k.oneHead(&left)
		if err != nil {
			return h, fmt.Errorf("read the answer's head: %w", unexpected(err))
		}
		if h.status >= 200 || h.status == 101 {
			return h, nil
		}
	}
}

// oneHead reads a status line and its fields; left counts the bytes that may
// still come.
func (k *conn) oneHead(left *int) (head, error) {
	h := head{length: -1}
	line, err := k.headLine(left)
	if err != nil {
		return h, err
	}
	old, err := h.first(line)
	if err != nil {
		return h, err
	}
	var said fields
	for {
		if line, err = k.headLine(left); err != nil {
			return h, err
		}
		if len(line) == 0 {
			return h, h.frame(said, old)
		}
		if err := said.take(line); err != nil {
			return h, err
		}
	}
}

// line returns the next line up to its line feed, good until the next read.
func (k *conn) line(left *int) ([]byte, error) {
	b, err := k.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		var long []byte
		for err == bufio.ErrBufferFull && len(long) < *left {
			long = append(long, b...)
			b, err = k.in.ReadSlice('\n')
		}
		b = append(long, b...)
	}
	if *left -= len(b); *left < 0 {
		return nil, errHead
	}
	if err != nil {
		return nil, err
	}
	return b[:len(b)-1], nil
}

// headLine is a line without its end, which may lack the carriage return.
func (k *conn) headLine(left *int) ([]byte, error) {
	b, err := k.line(left)
	return bytes.TrimSuffix(b, carriage), err
}

var carriage = []byte("\r")

// first reads a status line, and reports whether it is one of HTTP/1.0.
func (h *head) first(line []byte) (old bool, err error) {
	const version = "HTTP/1.x "
	malformed := func() (bool, error) { return false, fmt.Errorf("%.60q is no status line of HTTP/1", line) }
	if len(line) < len(version)+3 || string(line[:7]) != "HTTP/1." || line[7]|1 != '1' || line[8] != ' ' {
		return malformed()
	}
	reason := line[len(version):]
	for _, c := range reason[:3] {
		if c < '0' || c > '9' {
			return malformed()
		}
		h.status = 10*h.status + int(c-'0')
	}
	if h.status < 100 || len(reason) > 3 && reason[3] != ' ' {
		return malformed()
	}
	if h.reason = "200 OK"; string(reason) != h.reason {
		h.reason = string(reason)
	}
	return line[7] == '0', nil
}

// frame decides where the body ends, and whether the connection lives on.
func (h *head) frame(said fields, old bool) error {
	if said.chunked && old {
		return errors.New("HTTP/1.0 knows no chunks")
	}
	h.keep = !said.close && (!old || said.keepAlive) && h.status != 101
	switch {
	case h.status < 200 || h.status == 204 || h.status == 304:
		h.length = 0
	case said.chunked:
		h.chunked = true
		h.keep = h.keep && !said.sized // who says both may have meant the other
	case said.sized:
		h.length = said.length
	default: // to the end of the connection
		h.keep = false
	}
	return nil
}

// fields is what the fields of a head say together.
type fields struct {
	sized, chunked   bool
	length           int64
	close, keepAlive bool
}

// take reads the field of a line. A line that goes on with the one before is
// an error too.
func (f *fields) take(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !token(name) || !printed(value) {
		return errField
	}
	value = bytes.Trim(value, " \t")
	switch {
	case fold(name, "content-length"):
		n, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil || f.sized {
			return errors.New("a length that is none, or two of them")
		}
		f.sized, f.length = true, int64(n)
	case fold(name, "transfer-encoding"):
		if f.chunked || !fold(value, "chunked") {
			return fmt.Errorf("transfer-encoding %.60q is not known", value)
		}
		f.chunked = true
	case fold(name, "connection"):
		for what := range bytes.SplitSeq(value, []byte(",")) {
			what = bytes.Trim(what, " \t")
			f.close = f.close || fold(what, "close")
			f.keepAlive = f.keepAlive || fold(what, "keep-alive")
		}
	}
	return nil
}

// fold reports whether b is s, which is in lower case, in any case.
func fold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

// token reports whether b can be a field's name.
func token(b []byte) bool {
	for _, c := range b {
		if !isToken[c] {
			return false
		}
	}
	return len(b) > 0
}

var isToken = func() (is [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

// printed reports whether b can be a field's value.
func printed(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
