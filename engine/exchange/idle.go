package exchange

import (
	"sync"
	"time"
)

// idleMost is how many connections wait at most.
const idleMost = 64

// idle holds the connections that wait for a next request, the one that
// waited longest first.
type idle struct {
	after time.Duration

	mu     sync.Mutex
	list   []*conn
	timer  *time.Timer // runs while some wait
	closed bool
}

// take returns the connection that was used last and is still good, or nil.
// The others are the sooner closed for it.
func (d *idle) take() *conn {
	for {
		k := d.last()
		if k == nil || k.quiet() {
			return k
		}
		k.Close()
	}
}

func (d *idle) last() *conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.list)
	if n == 0 {
		return nil
	}
	k := d.list[n-1]
	d.list[n-1] = nil
	d.list = d.list[:n-1]
	if time.Since(k.since) < d.after {
		return k
	}
	k.Close()
	d.drop(n - 1) // they wait longer still
	return nil
}

// put keeps a connection, or closes it.
func (d *idle) put(k *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.list) >= idleMost {
		k.Close()
		return
	}
	k.since = time.Now()
	d.list = append(d.list, k)
	if d.timer == nil {
		d.timer = time.AfterFunc(d.after, d.sweep)
	}
}

// sweep closes what has waited too long.
func (d *idle) sweep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := 0
	for old < len(d.list) && time.Since(d.list[old].since) >= d.after {
		old++
	}
	d.drop(old)
	d.timer = nil
	if len(d.list) > 0 {
		d.timer = time.AfterFunc(d.after-time.Since(d.list[0].since), d.sweep)
	}
}

// drop closes the first n; mu must be held.
func (d *idle) drop(n int) {
	for _, k := range d.list[:n] {
		k.Close()
	}
	d.list = append(d.list[:0], d.list[n:]...)
	clear(d.list[len(d.list):cap(d.list)])
}

func (d *idle) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.drop(len(d.list))
	if d.timer != nil {
		d.timer.Stop()
	}
}
