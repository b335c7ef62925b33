package ledger

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// Ledger is the writing side of a ledger file. All methods are safe for
// concurrent use and none of them waits for the file, save Close.
type Ledger struct {
	path  string
	opt   Options
	bytes atomic.Int64  // of the rows in the queue and with the writer
	stir  chan struct{} // room for one: rows wait, or a batch is full

	peek      *peek
	raw       *Raw // nil when none are kept
	responses *Responses

	closing chan struct{} // closed by Close
	done    chan struct{} // closed when the writer has ended
	once    sync.Once

	mu     sync.Mutex // guards all below
	queue  queue
	closed bool
	health health
}

// health is what Health tells; Ledger.mu guards it.
type health struct {
	lost  [kinds]int64
	why   string    // why rows were last lost
	fault string    // what keeps the writer from writing now; "" when nothing does
	note  string    // what happened to the file
	since time.Time // when the writer went into SQLite; zero when it is out
}

// hung is how long SQLite may take for one batch before Health says so.
const hung = 3 * time.Second

// closeWait is how long Close waits for the last batch.
const closeWait = 5 * time.Second

// Open begins to keep a ledger at path; folders and file are made where they
// are missing, for the owner's eyes only. It never fails: as long as the file
// cannot be written, Health says why and the writer keeps trying. The caller
// closes the ledger.
func Open(path string, o Options) *Ledger {
	o = o.filled()
	l := &Ledger{
		path:    path,
		opt:     o,
		stir:    make(chan struct{}, 1),
		queue:   newQueue(),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
		peek:    &peek{path: path},
	}
	l.responses = newResponses(l)
	if o.RawAge > 0 {
		l.raw = newRaw(l)
	}
	go func() {
		defer close(l.done)
		newWriter(l).run()
	}()
	return l
}

// Turn records a turn. A row without an Outcome says that the turn has begun;
// the next row with its ID takes its place. It never blocks; where there is no
// room the row is lost and counted.
func (l *Ledger) Turn(t Turn) {
	clipTurn(&t)
	l.mu.Lock()
	defer l.mu.Unlock()
	if grown, ok := l.queue.renew(&t); ok {
		l.bytes.Add(grown)
		return
	}
	row := t // of which few are made
	l.queued(&row)
}

// Lease records what became of a lease. It never blocks; where there is no
// room the row is lost and counted.
func (l *Ledger) Lease(x Lease) { l.put(clipLease(x)) }

// Agent records a step in an agent's life. It never blocks; where there is no
// room the row is lost and counted.
func (l *Ledger) Agent(e AgentEvent) { l.put(clipAgent(e)) }

// Worker records a step in a worker's life. It never blocks; where there is
// no room the row is lost and counted.
func (l *Ledger) Worker(e WorkerEvent) { l.put(clipWorker(e)) }

// put queues a row and reports it, or counts it as lost.
func (l *Ledger) put(r row) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queued(r)
}

// queued is put; mu must be held. Content takes at most half of the queue's
// bytes, so that the books find room beside it.
func (l *Ledger) queued(r row) bool {
	size, limit := r.size(), l.opt.Bytes
	if r.kind() != books {
		limit /= 2
	}
	if l.closed {
		l.lose(r.kind(), 1, "the ledger is closed")
		return false
	}
	if l.queue.len() >= l.opt.Rows || l.bytes.Load()+size > limit {
		l.loseFull(r)
		return false
	}
	l.queue.add(r)
	l.bytes.Add(size)
	if n := len(l.queue.rows); n == 1 || n == l.opt.Batch {
		l.wake()
	}
	return true
}

// wake has the writer look at the queue.
func (l *Ledger) wake() {
	select {
	case l.stir <- struct{}{}:
	default: // it is about to
	}
}

// loseFull counts a row that found the queue full. mu must be held.
func (l *Ledger) loseFull(r row) {
	why := "more rows than the disk takes"
	if f := l.health.now(); f != "" {
		why = f
	}
	l.lose(r.kind(), 1, why)
}

// lost counts n lost rows.
func (l *Ledger) lost(k kind, n int64, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose(k, n, why)
}

// lose counts n lost rows. mu must be held.
func (l *Ledger) lose(k kind, n int64, why string) {
	if n > 0 {
		l.health.lost[k] += n
		l.health.why = why
	}
}

// Health says whether bookkeeping works at this moment, how many rows were
// lost since Open, and why: what is wrong now, else what happened to the
// file, else the reason of the last loss.
func (l *Ledger) Health() snapshot.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &l.health
	s := snapshot.Ledger{OK: true, Lost: h.lost[books], LostRaw: h.lost[rawTurns], LostResponses: h.lost[responses]}
	lost := s.Lost+s.LostRaw+s.LostResponses > 0
	switch now := h.now(); {
	case now != "":
		s.OK, s.Why = false, now
	case l.closed:
		s.OK, s.Why = false, "the ledger is closed"
	case h.note != "" && lost:
		s.Why = h.note + "; rows lost: " + h.why
	case h.note != "":
		s.Why = h.note
	case lost:
		s.Why = h.why
	}
	return s
}

// Memory tells about how many bytes the ledger holds in memory: what is on its
// way to disk, the stored responses that were kept last, and where raw turns
// lie.
func (l *Ledger) Memory() int64 {
	n := l.bytes.Load() + l.responses.new.bytes() + l.responses.gone.bytes()
	if l.raw != nil {
		n += l.raw.known.bytes()
	}
	return n
}

// now says what keeps rows from the disk at this moment, or "".
func (h *health) now() string {
	if !h.since.IsZero() {
		if d := time.Since(h.since); d > hung {
			return fmt.Sprintf("the disk does not answer since %s", d.Round(time.Second))
		}
	}
	return h.fault
}

// Close commits what is queued and ends the writer. It waits at most some
// seconds; what could not be written by then is counted as lost and told by
// the error. Calling it again waits for the same end.
func (l *Ledger) Close() error {
	l.once.Do(func() {
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		close(l.closing)
	})
	defer l.peek.reset()
	select {
	case <-l.done:
	case <-time.After(closeWait):
		return fmt.Errorf("close ledger %s: the disk does not answer", l.path)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.health.fault != "" {
		return fmt.Errorf("close ledger %s: %s; %d rows lost", l.path, l.health.fault, l.health.lost[books])
	}
	return nil
}
