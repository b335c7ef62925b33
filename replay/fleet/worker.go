package fleet

import (
	"math"
	"slices"
	"time"
)

// Worker is an engine. Make one with NewWorker.
type Worker struct {
	ID      int
	Profile Profile
	Block   int // tokens

	Busy   time.Duration // in steps
	Events []Event       // since the caller last took them
	Ended  []*Request    // by the last Finish
	Firsts []*Request    // whose first token came with the last Finish

	pool     *Pool
	tier     *Tier // nil is none
	running  []*Request
	waiting  []*Request
	promised int // blocks that running prompts will still take
	found    []Slot

	stepping bool
	idle     bool // it steps only to wait for what is loaded
	start    time.Duration
	steps    int     // planned together
	base     float64 // ms of the first of them
	growth   float64 // ms by which each is longer than the one before
}

// NewWorker returns a worker without load. kv is the tokens that its cache
// holds, 0 without bounds.
func NewWorker(id int, m Profile, block, kv int) *Worker {
	blocks := 0
	if kv > 0 {
		blocks = max(kv/block, 1)
	}
	return &Worker{ID: id, Profile: m, Block: block, pool: NewPool(blocks)}
}

// Pool is the worker's cache.
func (w *Worker) Pool() *Pool { return w.pool }

// Running and Waiting count requests.
func (w *Worker) Running() int { return len(w.running) }

// Waiting counts requests that were not admitted yet.
func (w *Worker) Waiting() int { return len(w.waiting) }

// Fits reports whether a request could ever run.
func (w *Worker) Fits(r *Request) bool {
	return (r.Prompt+r.Output+w.Block-1)/w.Block <= w.pool.size
}

// Submit hands a request to the worker, which must fit. Next may be earlier
// after it.
func (w *Worker) Submit(r *Request, now time.Duration) {
	r.target, r.done, r.gen, r.filled = r.Prompt, 0, 0, 0
	w.waiting = append(w.waiting, r)
	if !w.stepping || w.idle {
		w.plan(now)
		return
	}
	for k := 1; k < w.steps; k++ {
		if w.after(k) >= now {
			w.steps = k
			break
		}
	}
}

// Next is when Finish has to be called; false means that nothing is to do.
func (w *Worker) Next() (time.Duration, bool) { return w.after(w.steps), w.stepping }

// after is when k of the steps are done.
func (w *Worker) after(k int) time.Duration {
	n := float64(k)
	return w.start + duration(n*w.base+w.growth*n*(n-1)/2)
}

// Finish ends the steps that run, at the time that Next told, and begins the
// next.
func (w *Worker) Finish(now time.Duration) {
	if !w.idle {
		w.Busy += now - w.start
	}
	w.Ended, w.Firsts = w.Ended[:0], w.Firsts[:0]
	if gone := w.pool.Gone(); len(gone) > 0 {
		w.Events = append(w.Events, Event{Worker: w.ID, At: now, Removed: slices.Clone(gone)})
		w.tier.evicted(gone, now)
	}
	keep := w.running[:0]
	for _, r := range w.running {
		w.advance(r, now)
		if r.gen < r.Output || r.prefilling() {
			keep = append(keep, r)
			continue
		}
		r.Ended = now
		w.tier.ended(r, w.Block, now)
		w.pool.Release(r.slots, now)
		w.Ended = append(w.Ended, r)
	}
	clear(w.running[len(keep):])
	w.running = keep
	w.plan(now)
}

// advance counts what the steps did for a request.
func (w *Worker) advance(r *Request, now time.Duration) {
	switch {
	case r.chunk > 0:
		r.done += r.chunk
		r.chunk = 0
		if r.prefilling() {
			break
		}
		r.gen++
		if r.First == 0 {
			r.First = now
			w.Firsts = append(w.Firsts, r)
		}
	case !r.prefilling():
		r.done += w.steps
		r.gen += w.steps
	}
	to := min(r.done/w.Block, r.known(), len(r.slots)) // what is being loaded has none yet
	for r.filled < to {
		w.fill(r, to, now)
	}
}

// fill gives hashes to blocks of a request up to the next that is a copy, or to.
func (w *Worker) fill(r *Request, to int, now time.Duration) {
	from := r.filled
	for r.filled < to && w.pool.fill(r.slots[r.filled], r.hash(r.filled)) {
		r.filled++
	}
	for at := from; at < r.filled; {
		e := Event{Worker: w.ID, At: now, HasParent: at > 0}
		if at > 0 {
			e.Parent = r.hash(at - 1)
		}
		if n := len(r.Chain); at < n {
			end := min(n, r.filled)
			e.Stored, e.Content = r.Chain[at:end:end], r.Content[at:end:end]
			at = end
		} else {
			e.Stored, e.Content = r.Tail[at-n:r.filled-n], r.TailContent[at-n:r.filled-n]
			at = r.filled
		}
		w.Events = append(w.Events, e)
	}
	if r.filled < to {
		r.filled++ // the copy
	}
}

// plan begins the next step, or several that only decode.
func (w *Worker) plan(now time.Duration) {
	w.start, w.stepping, w.idle, w.steps = now, false, false, 1
	w.base, w.growth = w.Profile.Step, 0
	left := w.Profile.Batched
	most := math.MaxInt
	for i := 0; i < len(w.running); i++ {
		r := w.running[i]
		if r.prefilling() {
			continue
		}
		room := w.room(r, 1, now)
		if room == 0 {
			break // it was the last
		}
		w.stepping = true
		left--
		w.base += w.Profile.Context*float64(r.done) + w.Profile.Seq
		w.growth += w.Profile.Context
		most = min(most, r.Output-r.gen, room)
	}
	if !w.prompts(left, now) && w.stepping {
		w.steps = max(most, 1)
	}
	w.wake(now)
}

// prompts adds chunks of prompts to the step, those that were begun first, and
// tells whether there are any.
func (w *Worker) prompts(left int, now time.Duration) bool {
	some := false
	for i := 0; i < len(w.running) && left > 0; i++ {
		r := w.running[i]
		if !r.prefilling() || r.ready > now {
			continue
		}
		n := min(left, r.target-r.done)
		had := len(r.slots)
		if w.room(r, n, now) == 0 {
			break
		}
		w.promised -= len(r.slots) - had
		left -= w.compute(r, n)
		some = true
	}
	for len(w.waiting) > 0 && left > 0 && len(w.running) < w.Profile.Slots {
		r := w.waiting[0]
		if !w.admit(r, now) {
			break
		}
		w.waiting = slices.Delete(w.waiting, 0, 1)
		if r.ready > now {
			continue
		}
		n := min(left, r.target-r.done)
		had := len(r.slots)
		w.room(r, n, now) // there is: it was admitted
		w.promised -= len(r.slots) - had
		left -= w.compute(r, n)
		some = true
	}
	return some
}

// admit begins a request if blocks for its whole prompt are free.
func (w *Worker) admit(r *Request, now time.Duration) bool {
	limit := min((r.target-1)/w.Block, r.known())
	w.found = w.pool.Find(w.found[:0], r.Chain[:min(limit, len(r.Chain))], r.Hint)
	if n := len(r.Chain); len(w.found) == n && limit > n {
		w.found = w.pool.Find(w.found, r.Tail[:limit-n], nil)
	}
	hit, all := len(w.found), w.blocks(r.target)
	if all-hit+w.pool.Idle(w.found)+w.promised > w.pool.Free() {
		return false
	}
	w.pool.Claim(w.found)
	if r.slots == nil {
		r.slots = make([]Slot, 0, w.blocks(r.Prompt+r.Output))
	}
	r.slots = append(r.slots, w.found...)
	loads := w.tier.load(r, hit, limit, w.Block, now)
	r.done, r.filled = (hit+loads)*w.Block, hit
	if !r.seen {
		r.seen, r.Cached, r.Loaded = true, r.done, loads*w.Block
	}
	w.promised += all - hit
	w.running = append(w.running, r)
	return true
}

// compute plans n tokens of a prompt.
func (w *Worker) compute(r *Request, n int) int {
	r.chunk = n
	w.base += w.Profile.prefill(n, r.done)
	w.stepping = true
	return n
}

// room takes a block for a request where it needs one for n more tokens, and
// tells how many tokens its blocks have room for. Where there is none, younger
// requests give theirs back, at last the request itself: then it is 0.
func (w *Worker) room(r *Request, n int, now time.Duration) int {
	need := (r.done+n+w.Block-1)/w.Block - len(r.slots)
	for need > w.pool.Free() {
		last := w.running[len(w.running)-1]
		w.preempt(last, now)
		if last == r {
			return 0
		}
	}
	if need > 0 {
		r.slots = w.pool.Take(r.slots, need, now)
	}
	return len(r.slots)*w.Block - r.done
}

// preempt sends the last running request back to the line.
func (w *Worker) preempt(r *Request, now time.Duration) {
	w.running = w.running[:len(w.running)-1]
	if r.prefilling() {
		w.promised -= w.blocks(r.target) - len(r.slots)
	}
	w.pool.Release(r.slots, now)
	r.slots = r.slots[:0]
	r.done, r.filled, r.chunk, r.target = 0, 0, 0, r.Prompt+r.gen
	r.Preempted++
	w.waiting = slices.Insert(w.waiting, 0, r)
}

// blocks is how many blocks n tokens take.
func (w *Worker) blocks(n int) int { return (n + w.Block - 1) / w.Block }

// Serve computes a request at once: its blocks are claimed, filled and let go,
// and no time passes. It is for caches without engines; Ended and Firsts tell
// it as Finish does.
func (w *Worker) Serve(r *Request, now time.Duration) {
	w.Ended, w.Firsts = w.Ended[:0], w.Firsts[:0]
	r.target = r.Prompt
	w.admit(r, now)
	w.running = w.running[:0]
	w.promised = 0
	r.slots = w.pool.Take(r.slots, w.blocks(r.Prompt+r.Output-1)-len(r.slots), now)
	if gone := w.pool.Gone(); len(gone) > 0 {
		w.Events = append(w.Events, Event{Worker: w.ID, At: now, Removed: slices.Clone(gone)})
		w.tier.evicted(gone, now)
	}
	for to := min((r.Prompt+r.Output-1)/w.Block, r.known()); r.filled < to; {
		w.fill(r, to, now)
	}
	w.tier.ended(r, w.Block, now)
	w.pool.Release(r.slots, now)
	r.First, r.Ended = now, now
	w.Ended, w.Firsts = append(w.Ended, r), append(w.Firsts, r)
}
