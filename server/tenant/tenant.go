package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Tenant is one key with what it has used. A nil Tenant has no limits.
type Tenant struct {
	mu       sync.Mutex // guards all below
	key      turn.Key
	requests bucket
	tokens   bucket
	running  int
	used     Used
}

// Used is what a key has used since the daemon's start.
type Used struct {
	Turns   int64 // that were let in
	Refused int64
	Tokens  int64
	Running int
}

// Full says why a turn was not let in, and when to try again.
type Full struct {
	Why  string
	Wait time.Duration // at least a second
}

// Error returns the reason.
func (f *Full) Error() string { return f.Why }

// concurrentWait is the advice where the limit is on turns at once: nobody
// knows when one ends.
const concurrentWait = time.Second

// Key returns the key.
func (t *Tenant) Key() turn.Key {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.key
}

// change gives the tenant a key, with what he has used of the old one's
// limits.
func (t *Tenant) change(k turn.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.key = k
	t.requests.per = float64(k.Requests)
	t.tokens.per = float64(k.Tokens)
}

// Enter lets a turn in, or says why not with a *Full. Who is let in must call
// Leave once.
func (t *Tenant) Enter(now time.Time) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	full := t.full(now)
	if full != nil {
		t.used.Refused++
		return full
	}
	t.requests.take(now, 1)
	t.running++
	t.used.Turns++
	return nil
}

// Ask lets a request in that makes no turn: it counts among the requests, and
// needs no Leave. It says why not with a *Full.
func (t *Tenant) Ask(now time.Time) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if full := t.often(now); full != nil {
		t.used.Refused++
		return full
	}
	t.requests.take(now, 1)
	return nil
}

// often says whether there are too many requests; mu must be held.
func (t *Tenant) often(now time.Time) error {
	if wait := t.requests.wait(now, 1); wait > 0 {
		return &Full{fmt.Sprintf("the key %s may make %d requests a minute", t.key.Name, t.key.Requests), wait}
	}
	return nil
}

// full says which limit is met; mu must be held.
func (t *Tenant) full(now time.Time) error {
	if k := t.key.Concurrent; k > 0 && t.running >= k {
		return &Full{fmt.Sprintf("the key %s may have %d turns at once", t.key.Name, k), concurrentWait}
	}
	if full := t.often(now); full != nil {
		return full
	}
	if wait := t.tokens.wait(now, 1); wait > 0 {
		return &Full{fmt.Sprintf("the key %s may use %d tokens a minute", t.key.Name, t.key.Tokens), wait}
	}
	return nil
}

// Leave gives back the place of a turn that ended and takes its tokens.
func (t *Tenant) Leave(now time.Time, tokens int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.tokens.take(now, float64(tokens))
	t.used.Tokens += int64(tokens)
}

// Spend takes tokens of a turn beside those that Leave takes.
func (t *Tenant) Spend(now time.Time, tokens int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens.take(now, float64(tokens))
	t.used.Tokens += int64(tokens)
}

// Used returns what was used so far.
func (t *Tenant) Used() Used {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.used
	u.Running = t.running
	return u
}

// Salt joins a client's own salt with the key's, so that prefixes are never
// shared between two keys, whatever their clients say.
func (t *Tenant) Salt(client string) string {
	if t == nil {
		return client
	}
	own := t.Key().Salt
	if client == "" {
		return own
	}
	sum := sha256.Sum256([]byte(own + "\x00" + client))
	return hex.EncodeToString(sum[:16])
}

// bucket holds what may be taken now; per is how much a minute fills it, and
// at most so much is in it. A bucket of per 0 has no limit. What is taken may
// overdraw it.
type bucket struct {
	per   float64
	level float64 // at the time at
	at    time.Time
}

// fill brings the level up to now.
func (b *bucket) fill(now time.Time) {
	if b.at.IsZero() {
		b.level = b.per
	} else if d := now.Sub(b.at); d > 0 {
		b.level += b.per * d.Minutes()
	}
	b.level = math.Min(b.level, b.per)
	b.at = now
}

// wait returns how long it takes until n are there; 0 when they are.
func (b *bucket) wait(now time.Time, n float64) time.Duration {
	if b.per <= 0 {
		return 0
	}
	b.fill(now)
	if b.level >= n {
		return 0
	}
	seconds := math.Ceil((n - b.level) / b.per * 60)
	return time.Duration(math.Max(seconds, 1)) * time.Second
}

// take takes n, also when they are not there.
func (b *bucket) take(now time.Time, n float64) {
	if b.per <= 0 {
		return
	}
	b.fill(now)
	b.level -= n
}
