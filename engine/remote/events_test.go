package remote

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestEvents(t *testing.T) {
	const stream = ": a comment\r\nevent: x\r\ndata: one\r\n\r\ndata:two\n\nid: 5\ndata: {\"a\": 1} \n\ndata: cut"
	for name, r := range map[string]io.Reader{
		"whole":    strings.NewReader(stream),
		"bytes":    iotest.OneByteReader(strings.NewReader(stream)),
		"data+EOF": iotest.DataErrReader(strings.NewReader(stream)),
	} {
		e := NewEvents(r)
		for _, want := range []string{"one", "two", `{"a": 1}`} {
			if got, err := e.Next(); err != nil || string(got) != want {
				t.Fatalf("%s: got %q, %v; want %q", name, got, err, want)
			}
		}
		if got, err := e.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: an unfinished line gave %q, %v", name, got, err)
		}
	}
}

func TestBuffered(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() { _, _ = io.WriteString(w, "data: one\n\n: quiet\ndata: two\n\ndata: th") }()
	e := NewEvents(r)
	for _, buffered := range []bool{true, false} {
		if _, err := e.Next(); err != nil || e.Buffered() != buffered {
			t.Fatalf("buffered is %v, error %v", e.Buffered(), err)
		}
	}
}

// A long event costs memory for a while, and what is squeezed out costs none.
func TestLongLines(t *testing.T) {
	stream := "data: {" + strings.Repeat("1", 1<<20) + "}\n\ndata: a\n\ndata: b\n\n"
	for _, wrap := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.HalfReader,
	} {
		e := NewEvents(wrap(strings.NewReader(stream)))
		if data, err := e.Next(); err != nil || len(data) != 1<<20+2 {
			t.Fatalf("%d bytes, error %v", len(data), err)
		}
		for _, want := range []string{"a", "b"} {
			if data, err := e.Next(); err != nil || string(data) != want {
				t.Fatalf("%q, error %v", data, err)
			}
		}
		_, _ = e.Next()
		if len(e.buf) > lineBuffer {
			t.Errorf("the buffer stays at %d bytes", len(e.buf))
		}
		e = NewEvents(wrap(strings.NewReader(stream)))
		e.Squeeze = func(b []byte) int { return bytes.IndexByte(b, '{') + 1 }
		if data, err := e.Next(); err != nil || len(e.buf) > lineBuffer || !bytes.HasSuffix(data, []byte("}")) {
			t.Errorf("%d bytes, a buffer of %d, error %v", len(data), len(e.buf), err)
		}
	}
}

func TestEndlessLine(t *testing.T) {
	e := NewEvents(io.MultiReader(strings.NewReader("data: "), endless{}))
	if _, err := e.Next(); !errors.Is(err, errLine) {
		t.Errorf("error is %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }

// A document is read as if it had come as a stream; what follows events is not
// one.
func TestDocument(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"without an end of line", `{"a":1}`, `{"a":1}`},
		{"with one", "{\"a\":1}\r\n", "{\"a\":1}\r"},
		{"behind an event", "data: x\n\n{}", "x"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.body), iotest.OneByteReader(strings.NewReader(c.body))} {
			e := NewEvents(r)
			e.Documents = true
			got, err := e.Next()
			if err != nil || string(got) != c.want {
				t.Errorf("%s: %q, %v", c.name, got, err)
			}
			next, err := e.Next()
			if end := string(next) == "[DONE]" && err == nil; end != (c.want != "x") {
				t.Errorf("%s: then %q, %v", c.name, next, err)
			}
		}
	}
	if got, err := NewEvents(strings.NewReader("{}")).Next(); !errors.Is(err, io.EOF) {
		t.Errorf("where none is asked for: %q, %v", got, err)
	}
	if got, err := NewEvents(iotest.ErrReader(io.ErrUnexpectedEOF)).Next(); err == nil {
		t.Errorf("a broken one gave %q", got)
	}
}
