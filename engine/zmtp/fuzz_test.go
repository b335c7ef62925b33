package zmtp

import (
	"bufio"
	"bytes"
	"net"
	"testing"
)

// deaf is a connection that only swallows.
type deaf struct{ net.Conn }

func (deaf) Write(b []byte) (int, error) { return len(b), nil }

// FuzzMessage feeds bytes of a hostile peer: no panic, nothing over the
// limits, and what was read is what a well-behaved writer would have sent.
func FuzzMessage(f *testing.F) {
	f.Add([]byte{1, 1, 'a', 0, 2, 'b', 'c'})
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, 1, 'x'})
	f.Add([]byte{4, 7, 4, 'P', 'I', 'N', 'G', 0, 1, 0, 0})
	f.Add([]byte{3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		w := &wire{c: deaf{}, r: bufio.NewReader(bytes.NewReader(in)), limit: maxRequest}
		for {
			m, err := w.message()
			if err != nil {
				return
			}
			n := 0
			for _, frame := range m {
				n += len(frame)
			}
			if n > maxRequest || len(m) == 0 || len(m) > maxFrames {
				t.Fatalf("%d frames, %d bytes", len(m), n)
			}
			back := &wire{r: bufio.NewReader(bytes.NewReader(appendMessage(nil, m))), limit: maxRequest}
			again, err := back.message()
			if err != nil || !bytes.Equal(bytes.Join(again, []byte{0}), bytes.Join(m, []byte{0})) {
				t.Fatalf("%q came back as %q, %v", m, again, err)
			}
		}
	})
}

// FuzzGreeting feeds a hostile peer's greeting and READY.
func FuzzGreeting(f *testing.F) {
	f.Add(join(greeting(), readyOf("PUB")))
	f.Add(greeting())
	f.Fuzz(func(t *testing.T, in []byte) {
		w := &wire{c: deaf{}, r: bufio.NewReader(bytes.NewReader(in)), limit: maxMessage}
		if w.greet("SUB") == nil {
			_ = w.ready([]string{"PUB", "XPUB"})
		}
	})
}
