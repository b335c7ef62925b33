package cable

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo answers each line with itself.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(c, c)
		}
	}()
	return l.Addr().String()
}

func TestCable(t *testing.T) {
	c, err := New(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	dial := func() (net.Conn, *bufio.Reader) {
		n, err := net.Dial("tcp", c.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		return n, bufio.NewReader(n)
	}
	say := func(n net.Conn, r *bufio.Reader) error {
		n.Write([]byte("word\n"))
		_, err := r.ReadString('\n')
		return err
	}
	silent := func(n net.Conn, r *bufio.Reader) bool {
		n.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		defer n.SetReadDeadline(time.Time{})
		return errors.Is(say(n, r), os.ErrDeadlineExceeded)
	}

	one, of := dial()
	if err := say(one, of); err != nil {
		t.Fatalf("it carries nothing: %v", err)
	}
	release := c.Hold()
	if !silent(one, of) {
		t.Error("what is held comes through")
	}
	release()
	if line, err := of.ReadString('\n'); err != nil || line != "word\n" {
		t.Errorf("after that, %q, %v", line, err)
	}
	c.Pull()
	two, to := dial()
	if !silent(one, of) || !silent(two, to) {
		t.Error("a pulled cable carries")
	}
	c.Plug()
	if !silent(one, of) || !silent(two, to) {
		t.Error("the dead have risen")
	}
	c.Delay(time.Millisecond)
	three, by := dial()
	if err := say(three, by); err != nil {
		t.Errorf("plugged again: %v", err)
	}
	c.Cut()
	for _, r := range []*bufio.Reader{of, to, by} {
		if _, err := r.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a cut one: %v", err)
		}
	}
}
