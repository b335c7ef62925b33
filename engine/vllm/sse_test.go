package vllm

import (
	"bytes"
	"errors"
	"fmt"
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
		e := newEvents(r)
		for _, want := range []string{"one", "two", `{"a": 1}`} {
			if got, err := e.next(); err != nil || string(got) != want {
				t.Fatalf("%s: got %q, %v; want %q", name, got, err, want)
			}
		}
		if got, err := e.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: an unfinished line gave %q, %v", name, got, err)
		}
	}
}

// The echo of a long prompt costs no memory, a long text does, for a while.
func TestLongLines(t *testing.T) {
	var ids bytes.Buffer
	for i := range 60000 {
		fmt.Fprintf(&ids, "%d,", 100000+i)
	}
	echoed := fmt.Sprintf(`data: {"choices":[{"text":"a","prompt_token_ids":[%s1],"token_ids":[5]}]}`, ids.String())
	long := fmt.Sprintf(`data: {"choices":[{"text":"%s","token_ids":[6]}]}`, strings.Repeat("x", 1<<20))
	for _, wrap := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.OneByteReader,
	} {
		e := newEvents(wrap(strings.NewReader(echoed + "\n\n" + long + "\n\ndata: end\n\n")))
		var r reader
		data, err := e.next()
		if err != nil || len(e.buf) > lineBuffer {
			t.Fatalf("the echo took %d bytes, error %v", len(e.buf), err)
		}
		if c, err := r.read(data); err != nil || c.text != "a" || c.ids[0] != 5 {
			t.Fatalf("%+v, %v", c, err)
		}
		data, err = e.next()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := r.read(data); err != nil || len(c.text) != 1<<20 || c.ids[0] != 6 {
			t.Fatalf("long text: %d bytes, %v", len(c.text), err)
		}
		for range 2 {
			if data, err = e.next(); err != nil {
				break
			}
			if string(data) != "end" {
				t.Fatalf("got %q", data)
			}
		}
		if len(e.buf) > lineBuffer {
			t.Errorf("the buffer stays at %d bytes", len(e.buf))
		}
	}
}

func TestEndlessLine(t *testing.T) {
	e := newEvents(io.MultiReader(strings.NewReader("data: "), endless{}))
	if _, err := e.next(); !errors.Is(err, errLine) {
		t.Errorf("error is %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }
