package route

import "time"

// DefaultSessions is how many sessions Books remember where told nothing else.
const DefaultSessions = 16_384

// Books are what a router knows of its workers by its own doing: what it sent
// and what came back. Every call says what time it is, so that a simulation
// keeps the same books as a server. They belong to one goroutine, or to a
// mutex. NewBooks makes them.
//
// A turn is Sent, then First, Tokens any number of times, and Ended; one that
// fails goes from anywhere to Ended. Calls about turns, sessions and workers
// that are not known do nothing.
type Books struct {
	Lengths Lengths // of answers

	sessions int // that are remembered at most
	accounts map[string]*account
	turns    map[string]*sent
	homes    map[string]*stay
	stays    int
	tails    int // of those, what sessions left behind
	families families
}

// NewBooks returns empty books that remember so many sessions; 0 is
// DefaultSessions.
func NewBooks(sessions int) *Books {
	if sessions <= 0 {
		sessions = DefaultSessions
	}
	return &Books{
		sessions: sessions, accounts: map[string]*account{}, turns: map[string]*sent{},
		homes: map[string]*stay{},
	}
}

// Limits are what is known of a worker beforehand; zero is unknown.
type Limits struct {
	KVTokens   int
	MaxBatched int
	Events     bool  // evictions are told with Evicted; else they are guessed
	Rates      Rates // where calibration begins
}

// Worker opens the account of a worker, or changes its limits. New rates begin
// its calibration anew.
func (b *Books) Worker(name string, l Limits) {
	a := b.accounts[name]
	if a == nil {
		a = &account{name: name, blocks: map[uint64]int{}}
		b.accounts[name] = a
	}
	if l.Rates = l.Rates.known(); l.Rates != a.limits.Rates {
		a.clock = clock{}
	}
	a.limits = l
}

// Busy is how many turns a worker has, and how many uncached tokens of their
// prompts have no first token yet.
func (b *Books) Busy(worker string) (turns, pending int) {
	if a := b.accounts[worker]; a != nil {
		return a.inFlight, a.pending
	}
	return 0, 0
}

// Gone closes a worker's account: it left. Its turns still end.
func (b *Books) Gone(worker string) {
	b.Cleared(worker)
	delete(b.accounts, worker)
}

// Cleared notes that a worker lost what it held, or was started anew: no
// session is at home there. How fast it is stays known, and its turns run.
func (b *Books) Cleared(worker string) {
	a := b.accounts[worker]
	if a == nil {
		return
	}
	for s := a.idle.front; s != nil; {
		next := s.next
		b.drop(s)
		s = next
	}
	for _, t := range b.turns {
		if t.stay != nil && t.stay.at == a {
			b.drop(t.stay)
		}
	}
}

// Sending is a turn on its way to a worker.
type Sending struct {
	Need      *Need // not kept
	Worker    string
	Prefill   string // computes the prompt; "" is Worker
	Overlap   int    // tokens of the prompt that are taken to be there
	Lower     [3]int // and behind them in lower tiers
	Chain     []uint64
	BlockSize int // of Chain: the hashes of the prompt's blocks, where Candidate.Blocks is wanted
}

// Sent notes that a turn goes to a worker: from now on it counts there, long
// before the worker says anything of it.
func (b *Books) Sent(now time.Time, s Sending) {
	b.Ended(now, Outcome{Turn: s.Need.Turn, Err: true}) // sent before, and lost
	a := b.accounts[s.Worker]
	if a == nil {
		return
	}
	first := a
	if p := b.accounts[s.Prefill]; p != nil {
		first = p
	}
	t := &sent{turn: s.Need.Turn, worker: a, prefill: first, prompt: s.Need.Prompt, chain: s.Chain, prefix: s.Need.Prefix, at: now}
	t.opening = s.Need.Session == "" || b.homes[s.Need.Session] == nil
	t.owes(s.Overlap, s.Lower)
	b.turns[t.turn] = t
	first.promise(now, t)
	a.take(now, t, s.BlockSize)
	b.arrive(now, s.Need, t)
	b.families.spread(now, s.Need.Prefix, first.name)
}

// First notes a turn's first token.
func (b *Books) First(now time.Time, turn string) {
	t := b.turns[turn]
	if t == nil || !t.first.IsZero() {
		return
	}
	t.first = now
	t.prefill.keep(now, t)
	t.worker.decode(now, t)
}

// Tokens notes how many tokens a turn's answer has by now.
func (b *Books) Tokens(now time.Time, turn string, tokens int) {
	if t := b.turns[turn]; t != nil && tokens > t.tokens {
		t.worker.grow(now, t, tokens-t.tokens)
	}
}

// Ended notes that a turn ended, and how: Cached is what the worker said of
// its prompt, −1 where it said nothing. Times of the outcome are not needed.
func (b *Books) Ended(now time.Time, o Outcome) {
	t := b.turns[o.Turn]
	if t == nil {
		return
	}
	delete(b.turns, o.Turn)
	if o.Output > t.tokens {
		t.worker.grow(now, t, o.Output-t.tokens)
	}
	if t.first.IsZero() {
		t.prefill.forgo(now, t)
	} else if !o.Err {
		t.prefill.learnPrefill(t, o.Cached)
		t.worker.learnDecode(now, t)
	}
	t.worker.release(now, t)
	b.leave(now, t, o)
	if t.opening && o.Cached > 0 && !o.Err {
		b.families.of[t.prefix].learn(o.Cached)
	}
}

// sent is a turn that has not ended.
type sent struct {
	turn    string
	worker  *account // where its answer is written
	prefill *account // where its prompt is computed; mostly the same
	stay    *stay    // of its session; nil without one
	prompt  int
	tokens  int // of its answer so far
	chain   []uint64
	prefix  uint64
	opening bool // its session's first
	moved   bool // its session came to worker with it
	at      time.Time
	first   time.Time

	overlap, lower int
	reload         float64 // ms
	work           terms
	sample         *sample // that its first token closed, or was part of
	since          totals  // of worker, at its first token
}

// owes sets what has to be computed of a turn's prompt.
func (t *sent) owes(overlap int, lower [3]int) {
	t.overlap = min(max(overlap, 0), t.prompt)
	for tier, tokens := range lower {
		n := min(max(tokens, 0), max(t.prompt-1-t.overlap-t.lower, 0))
		t.lower += n
		t.reload += float64(n) * t.prefill.limits.Rates.Reload[tier]
	}
	t.work = workOf(t.prompt, t.overlap+t.lower)
}

// missing is how many tokens of the prompt its worker does not hold.
func (t *sent) missing() int { return t.prompt - t.overlap }

// millis is a duration as the books count it.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
