package vllm

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// The echo of a long prompt is dropped while it is read, whatever pieces it
// comes in, and what stands around it is not.
func TestEchoIsDropped(t *testing.T) {
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
		data, err := e.Next()
		if err != nil || len(data) > 8<<10 {
			t.Fatalf("the echo took %d bytes, error %v", len(data), err)
		}
		if c, err := r.read(data); err != nil || c.text != "a" || c.ids[0] != 5 {
			t.Fatalf("%+v, %v", c, err)
		}
		if data, err = e.Next(); err != nil {
			t.Fatal(err)
		}
		if c, err := r.read(data); err != nil || len(c.text) != 1<<20 || c.ids[0] != 6 {
			t.Fatalf("long text: %d bytes, %v", len(c.text), err)
		}
		if data, err = e.Next(); err != nil || string(data) != "end" {
			t.Fatalf("%q, %v", data, err)
		}
	}
}
