package route

import (
	"slices"
	"time"
)

// account is what the books know of one worker.
type account struct {
	name   string
	limits Limits
	clock  clock // its rates, as measured

	waits    []*sent   // turns without a first token, in the order they were sent
	promised terms     // of those together
	reload   float64   // ms, of those
	begun    time.Time // when the first of them began to be computed
	window   sample    // of prefill, that is being measured
	closed   *sample   // the one before

	inFlight int
	decoding int
	active   int       // KV tokens of turns there
	over     time.Time // when those were last more than the worker has room for
	reading  int       // of those that decode
	pending  int
	blocks   map[uint64]int // turns that hold each block, where chains are told
	block    int            // tokens in one
	totals   totals

	idle    list    // sessions that were here last, the latest in front
	spent   *stay   // of those the latest from which on the mirror has nothing
	passed  *stay   // the latest from which on Retouch found nothing left
	running float64 // tokens of sessions at home here that have a turn there
	lasts   lasts   // tokens of idle ones at home by when those were last here
	fading  float64 // tokens that these will want, and
	warm    int     // tokens of those that were here in the last minute,
	leased  int     // tokens of idle ones at home that are leased, beside those
	leases  []*stay // that may have some
	counted time.Time
	homes   int // sessions at home
	typical float64

	held    int // tokens that the mirror of its cache has
	age     float64
	evicted time.Time
	thrash  bool
	well    time.Time // since when its cache is large enough again, though it counts as thrashing
}

// totals are sums over time, of which differences tell what a turn's answer
// was written beside.
type totals struct {
	at        time.Time
	turns     float64 // ms × turns that decode
	tokens    float64 // ms × KV tokens that they read
	prefilled float64 // ms of prefill
}

// advance brings the sums up to now.
func (a *account) advance(now time.Time) {
	if dt := millis(now.Sub(a.totals.at)); dt > 0 {
		a.totals.turns += dt * float64(a.decoding)
		a.totals.tokens += dt * float64(a.reading)
		a.totals.at = now
	}
}

// promise adds a turn to those whose prompts wait to be computed.
func (a *account) promise(now time.Time, t *sent) {
	if len(a.waits) == 0 {
		a.begin(now)
	}
	a.waits = append(a.waits, t)
	a.promised.add(t.work)
	a.reload += t.reload
	a.pending += t.missing()
}

// begin notes that the worker begins to compute prompts.
func (a *account) begin(now time.Time) {
	a.begun, a.window, a.closed = now, sample{from: now}, nil
}

// owed is the prefill of a turn in ms, by the rates of now.
func (a *account) owed(t *sent) float64 {
	return t.work.prefill(a.rates()) + t.reload
}

// take books the turn's memory.
func (a *account) take(now time.Time, t *sent, block int) {
	a.advance(now)
	a.inFlight++
	a.active += t.prompt
	a.weigh(now)
	for _, h := range t.chain {
		a.blocks[h]++
		a.block = block
	}
}

// weigh notes whether turns have to wait for room, or lose theirs: what takes
// how long then says nothing of how fast the worker is.
func (a *account) weigh(now time.Time) {
	if kv := a.limits.KVTokens; kv > 0 && a.active > kv {
		a.over = now
	}
}

// crammed reports whether the worker had too little room at some time since.
func (a *account) crammed(since time.Time) bool { return !a.over.Before(since) && !a.over.IsZero() }

// keep notes that a turn has its prompt computed, and closes a measurement.
func (a *account) keep(now time.Time, t *sent) {
	ms := a.owed(t)
	a.advance(now)
	a.totals.prefilled += ms
	if s := a.closed; s != nil && !s.learnt && millis(now.Sub(s.to)) < ms*together {
		s.take(now, t, t.reload)
		t.sample = s
	} else {
		a.window.take(now, t, a.beside(t)+t.reload)
		if a.window.enough() {
			s := a.window
			t.sample, a.closed = &s, &s
			a.window = sample{from: now}
		}
	}
	a.forgo(now, t)
}

// together is which share of its own prefill a turn's first token may come after
// another's and still have been computed in the same step.
const together = 0.25

// beside is the time of the steps that compute a turn's prompt which is not
// for the prompt: weights are read, other turns decode, and the step that
// runs when it comes has to end.
func (a *account) beside(t *sent) float64 {
	batched := a.limits.MaxBatched
	if batched <= 0 {
		batched = DefaultMaxBatched
	}
	steps := (t.missing() + batched - 1) / batched
	ms := float64(max(steps, 1)) * a.rates().Decode(float64(a.decoding), float64(a.reading))
	if a.decoding > 0 {
		ms *= 1 + 0.5/float64(max(steps, 1))
	}
	return ms
}

// forgo takes a turn from those that wait for their prompts.
func (a *account) forgo(now time.Time, t *sent) {
	i := slices.Index(a.waits, t)
	if i < 0 {
		return
	}
	a.waits = slices.Delete(a.waits, i, i+1)
	a.pending -= t.missing()
	a.promised.take(t.work)
	a.reload -= t.reload
	if len(a.waits) == 0 {
		a.promised, a.reload = terms{}, 0 // to the last digit
	}
	a.begun = now
}

// decode notes that a turn's answer is being written.
func (a *account) decode(now time.Time, t *sent) {
	a.advance(now)
	a.decoding++
	a.reading += t.prompt + t.tokens
	t.since = a.totals
}

// grow adds tokens to a turn's answer.
func (a *account) grow(now time.Time, t *sent, tokens int) {
	t.tokens += tokens
	a.active += tokens
	a.weigh(now)
	if !t.first.IsZero() {
		a.advance(now)
		a.reading += tokens
	}
}

// release gives back what a turn took.
func (a *account) release(now time.Time, t *sent) {
	a.advance(now)
	a.weigh(now)
	a.inFlight--
	a.active -= t.prompt + t.tokens
	if !t.first.IsZero() {
		a.decoding--
		a.reading -= t.prompt + t.tokens
	}
	for _, h := range t.chain {
		if a.blocks[h]--; a.blocks[h] <= 0 {
			delete(a.blocks, h)
		}
	}
}

// backlog is the prefill that was sent and is not done, in ms. Of the turn
// that is being computed what should be done by now is taken off.
func (a *account) backlog(now time.Time) float64 {
	if len(a.waits) == 0 {
		return 0
	}
	done := min(max(millis(now.Sub(a.begun)), 0), a.owed(a.waits[0]))
	return max(a.promised.prefill(a.rates())+a.reload-done, 0)
}
