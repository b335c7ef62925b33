package cable

import (
	"io"
	"net"
	"sync"
	"time"
)

// Cable carries connections to one server. It is safe for concurrent use.
type Cable struct {
	l  net.Listener
	to string

	mu     sync.Mutex // guards all below
	open   map[net.Conn]bool
	came   int
	pulled bool
	pulls  int // connections of before the last one are dead
	closed bool
	delay  time.Duration
	held   chan struct{} // closed when bytes may pass; nil when they may
}

// New listens on loopback and carries what comes to a server's host:port,
// which need not listen yet. Close it.
func New(to string) (*Cable, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Cable{l: l, to: to, open: map[net.Conn]bool{}}
	go c.run()
	return c, nil
}

// Addr is where to connect, as host:port.
func (c *Cable) Addr() string { return c.l.Addr().String() }

// Came is how many connections were made so far.
func (c *Cable) Came() (n int) {
	c.set(func() { n = c.came })
	return n
}

// Pull has all that is sent vanish from now on. Nobody is told.
func (c *Cable) Pull() {
	c.set(func() {
		c.pulled = true
		c.pulls++
	})
}

// Plug has new connections carried again. Those of before stay dead.
func (c *Cable) Plug() { c.set(func() { c.pulled = false }) }

// Delay holds each piece of bytes up for so long.
func (c *Cable) Delay(d time.Duration) { c.set(func() { c.delay = d }) }

// Hold lets nothing through until release is called, once.
func (c *Cable) Hold() (release func()) {
	held := make(chan struct{})
	c.set(func() { c.held = held })
	return func() {
		c.set(func() { c.held = nil })
		close(held)
	}
}

func (c *Cable) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Cut closes all connections.
func (c *Cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.open {
		n.Close()
	}
	clear(c.open)
}

// Close ends the cable.
func (c *Cable) Close() {
	c.l.Close()
	c.set(func() { c.closed = true })
	c.Cut()
}

func (c *Cable) run() {
	for {
		in, err := c.l.Accept()
		if err != nil {
			return
		}
		go c.join(in)
	}
}

// join carries one connection, unless the cable is pulled.
func (c *Cable) join(in net.Conn) {
	c.set(func() { c.came++ })
	pulls, pulled := c.keep(in)
	if pulled {
		return
	}
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		c.drop(in)
		return
	}
	c.keep(out)
	go c.carry(in, out, pulls)
	c.carry(out, in, pulls)
}

// carry moves bytes one way. Once the cable is pulled, what comes is dropped,
// the end included.
func (c *Cable) carry(from, to net.Conn, pulls int) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if c.wait(); c.dead(pulls) {
			io.Copy(io.Discard, from)
			return
		}
		if n > 0 {
			to.Write(buf[:n])
		}
		if err != nil {
			c.drop(to)
			c.drop(from)
			return
		}
	}
}

// wait holds one piece up.
func (c *Cable) wait() {
	c.mu.Lock()
	delay, held := c.delay, c.held
	c.mu.Unlock()
	if held != nil {
		<-held
	}
	if delay > 0 {
		time.Sleep(delay)
	}
}

// dead reports whether the cable was pulled again since.
func (c *Cable) dead(pulls int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pulls != pulls
}

// keep notes an open connection, and tells how the cable is; one that comes too
// late is closed.
func (c *Cable) keep(n net.Conn) (pulls int, pulled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		n.Close()
	} else {
		c.open[n] = true
	}
	return c.pulls, c.pulled
}

func (c *Cable) drop(n net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n.Close()
	delete(c.open, n)
}
