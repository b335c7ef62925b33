package lease

import (
	"fmt"
	"time"
)

// Found says how many tokens of a prompt its worker had when a turn used what
// was due, and who says so: "its engine", "its KV events". Below 0 nobody can
// tell.
func (b *Book) Found(now time.Time, line Line, worker string, due []Due, tokens int, says string) {
	if len(due) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range due {
		e := b.live[key{d.ID, worker}]
		if tokens < 0 {
			if e != nil && e.State == Asked {
				e.Why = "nothing tells what " + worker + " finds in its cache"
			}
			continue
		}
		block := 0
		if e != nil {
			block = e.Block
		}
		kept := there(d.Held, tokens, block)
		if kept {
			b.count.Kept++
		} else {
			b.count.Lost++
		}
		if e != nil {
			b.saw(e, d, kept, tokens, says)
		}
	}
}

// there reports whether so many tokens found are a lease kept. Of its last
// block only whole ones can be found, and the last token of a prompt is always
// computed, with its block.
func there(held, found, block int) bool {
	whole := held
	if block > 0 {
		whole = held / block * block
	}
	return found >= whole || found > 0 && found >= whole-max(block, 1)
}

// saw notes what was found of a lease.
func (b *Book) saw(e *entry, d Due, kept bool, tokens int, says string) {
	was := e.State
	e.Found = min(tokens, d.Held)
	if e.State == Cut {
		return // what is known of its part is in Found
	}
	if kept {
		e.State, e.Why = Kept, says+" had all of it"
	} else {
		e.State, e.Why = Lost, fmt.Sprintf("%s had %d of %d tokens", says, tokens, d.Held)
		if d.Worker != e.Worker {
			e.Why = fmt.Sprintf("moved from %s; %s", d.Worker, e.Why)
		}
	}
	if e.State != was {
		b.tell(e)
	}
}

// Limit says how many tokens a worker's KV cache has; 0 is not known.
func (b *Book) Limit(now time.Time, name string, tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.worker(name)
	if w.kv == tokens {
		return
	}
	w.kv = tokens
	b.fit(now, w, nil)
}

// Cleared notes that a worker has nothing any more of what it had.
func (b *Book) Cleared(name, why string) {
	if b.Empty() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear(b.workers[name], why)
}

func (b *Book) clear(w *worker, why string) {
	if w == nil {
		return
	}
	for e := range w.entries {
		if !e.in || e.State == Lost && e.Found == 0 {
			continue
		}
		b.count.Lost++
		e.State, e.Found, e.Why = Lost, 0, why
		b.tell(e)
	}
}

// Gone notes that a worker left. Its leases stay to be asked about, and follow
// their lines when these are used.
func (b *Book) Gone(name, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.workers[name]
	if w == nil {
		return
	}
	b.clear(w, why)
	for e := range w.entries {
		if e.in {
			w.take(e, -e.own)
		}
		e.in, e.own, e.Held, e.parent, e.kids = false, 0, 0, nil, 0
		b.touched(e)
	}
	for e := range w.entries {
		b.drop(e, why)
	}
	w.kv = 0
	if len(w.entries) == 0 {
		delete(b.workers, name)
	}
}
