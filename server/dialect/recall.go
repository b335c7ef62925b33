package dialect

import (
	"container/list"
	"hash/maphash"
	"sync"
	"unsafe"

	"github.com/agentinfer/dyn/turn"
)

// Recall remembers recent bodies, so that the part of the next one that is
// the same is recognised and not read again. Of each conversation it keeps the
// bytes of its elements and the messages that they were decoded to; a body
// whose conversation begins with the same bytes takes over those messages,
// the very same values, and only the rest is decoded. Lists of tools and
// system prompts are recognised whole, in any conversation.
//
// What a client gets never depends on it: bytes are compared, not hashes. Its
// messages and tools are shared by many turns and must not be written to; the
// slice Turn.Messages itself is the turn's own.
//
// It is safe for concurrent use. A conversation belongs to one decoding at a
// time; another one of the same session, at the same moment, reads its body
// whole.
type Recall struct {
	most int

	mu        sync.Mutex
	bytes     int                       // of conversations
	recent    *list.List                // of *entry, the latest first; those in use are not in it
	buckets   map[uint64][]*entry       // by session, or by how the body begins
	parts     []*passage                // the latest first
	partBytes int                       // of parts
	counts    struct{ hits, all int64 } // bytes of conversations taken over, and seen
}

// NewRecall returns a Recall that holds about so many bytes at most.
func NewRecall(bytes int) *Recall {
	return &Recall{most: bytes, recent: list.New(), buckets: map[uint64][]*entry{}}
}

// RecallStats is how a Recall fares.
type RecallStats struct {
	Bytes         int   // held now
	Conversations int   // held now
	Hits          int64 // bytes of conversations that were recognised
	Seen          int64 // bytes of conversations that came
}

// Stats tells how the Recall fares.
func (rc *Recall) Stats() RecallStats {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return RecallStats{rc.bytes + rc.partBytes, rc.recent.Len(), rc.counts.hits, rc.counts.all}
}

// Limits of what is remembered.
const (
	recallBody   = 4 << 10 // bodies below are read as fast as they are found
	partLeast    = 1 << 10
	partMost     = 2 << 20
	partsMost    = 32
	bucketMost   = 32 // conversations of one session, or that begin alike
	recallPrefix = 256
)

// entry is a conversation.
type entry struct {
	bucket   uint64
	dialect  turn.Dialect
	raw      []byte // of the array: from its bracket to the end of its last element
	elements []element
	messages []turn.Message
	spaces   uint64 // of the tools by which calls got their names
	at       *list.Element
	size     int // as counted in Recall.bytes
}

// element is where an element of a conversation ends, and what had been made
// of all up to there.
type element struct {
	end      uint32 // in entry.raw
	nodes    uint32
	messages uint32
	blocks   uint32 // of the last message
	asks     uint32
}

// passage is a tools array or a system prompt.
type passage struct {
	dialect turn.Dialect
	key     string
	raw     []byte
	nodes   int // values and keys inside

	asks     int
	tools    []turn.Tool
	offer    offer
	messages []turn.Message
}

var seed = maphash.MakeSeed()

// bucketOf returns where the conversation of a body is looked for: by the
// session that the headers name, else by how the body begins.
func bucketOf(d turn.Dialect, body []byte, header func(string) string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(string(d))
	named := false
	for _, name := range sessionHeaders {
		if v := header(name); v != "" {
			h.WriteString(name)
			h.WriteString(v)
			named = true
		}
	}
	if !named {
		h.Write(body[:min(len(body), recallPrefix)])
	}
	return h.Sum64()
}

// sessionHeaders name whose conversation a body is; see identity.go.
var sessionHeaders = []string{
	"x-claude-code-session-id", "x-claude-code-agent-id", "session-id", "thread-id", "x-session-id",
	"x-dynamo-session-id", "x-dyn-session-id", "x-deepseek-harness-session-id",
}

// take finds the conversation that a value begins with, most of it first, and
// takes it out; elements is how many of its elements the value begins with.
// One of which most would be lost is copied instead.
func (rc *Recall) take(bucket uint64, d turn.Dialect, rest []byte) (e *entry, elements int) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for _, c := range rc.buckets[bucket] {
		if c.dialect != d {
			continue
		}
		if n := c.begins(rest); n > elements {
			e, elements = c, n
		}
	}
	switch {
	case e == nil:
		return nil, 0
	case 2*elements >= len(e.elements):
		rc.drop(e)
		return e, elements
	}
	return e.prefix(elements), elements
}

// begins returns how many elements of the conversation rest begins with.
func (e *entry) begins(rest []byte) int {
	same := commonPrefix(rest, e.raw)
	lo, hi := 0, len(e.elements)
	for lo < hi {
		if mid := (lo + hi + 1) / 2; int(e.elements[mid-1].end) <= same {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// prefix returns a copy of the first n elements.
func (e *entry) prefix(n int) *entry {
	last := e.elements[n-1]
	return &entry{
		bucket: e.bucket, dialect: e.dialect, spaces: e.spaces,
		raw:      append([]byte(nil), e.raw[:last.end]...),
		elements: append([]element(nil), e.elements[:n]...),
		messages: append([]turn.Message(nil), e.messages[:last.messages]...),
	}
}

// put brings a conversation back, and forgets the oldest ones that are too
// much.
func (rc *Recall) put(e *entry) {
	e.weigh()
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if e.size > rc.most/2 { // a giant, who would drive out all others
		return
	}
	list := rc.buckets[e.bucket]
	if len(list) >= bucketMost {
		rc.drop(list[len(list)-1])
	}
	rc.buckets[e.bucket] = append([]*entry{e}, rc.buckets[e.bucket]...)
	e.at = rc.recent.PushFront(e)
	rc.bytes += e.size
	for rc.bytes+rc.partBytes > rc.most && rc.recent.Len() > 1 {
		rc.drop(rc.recent.Back().Value.(*entry))
	}
}

// Sizes of what a conversation is made of.
const (
	elementSize = int(unsafe.Sizeof(element{}))
	messageSize = int(unsafe.Sizeof(turn.Message{}))
	blockSize   = int(unsafe.Sizeof(turn.Block{}))
	toolSize    = int(unsafe.Sizeof(turn.Tool{}))
)

// weigh sets the conversation's size. Its texts are about as long as its
// bytes.
func (e *entry) weigh() {
	e.size = 2*cap(e.raw) + elementSize*cap(e.elements) + messageSize*cap(e.messages)
	for i := range e.messages {
		e.size += blockSize * cap(e.messages[i].Blocks)
	}
}

// drop takes a conversation out; mu must be held.
func (rc *Recall) drop(e *entry) {
	rc.recent.Remove(e.at)
	rc.bytes -= e.size
	list := rc.buckets[e.bucket]
	for i, c := range list {
		if c == e {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if rc.buckets[e.bucket] = list; len(list) == 0 {
		delete(rc.buckets, e.bucket)
	}
}

// find returns the part with which a value begins, whole, or nil.
func (rc *Recall) find(d turn.Dialect, key string, rest []byte) *passage {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for i, p := range rc.parts {
		if p.dialect == d && p.key == key && len(p.raw) <= len(rest) && string(rest[:len(p.raw)]) == string(p.raw) {
			copy(rc.parts[1:i+1], rc.parts[:i])
			rc.parts[0] = p
			return p
		}
	}
	return nil
}

// learn keeps a part. All of them take at most a quarter of the room.
func (rc *Recall) learn(p *passage) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.parts = append([]*passage{p}, rc.parts...)
	rc.partBytes += p.size()
	for n := len(rc.parts) - 1; n >= 0 && (n >= partsMost || rc.partBytes > rc.most/4); n-- {
		rc.partBytes -= rc.parts[n].size()
		rc.parts[n] = nil
		rc.parts = rc.parts[:n]
	}
}

// size is about what a part takes: its bytes, and what was made of them.
func (p *passage) size() int { return 2*len(p.raw) + len(p.tools)*toolSize }

// commonPrefix returns how many bytes a and b begin with alike.
func commonPrefix(a, b []byte) int {
	const step = 4 << 10
	n := min(len(a), len(b))
	i := 0
	for i+step <= n && string(a[i:i+step]) == string(b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
