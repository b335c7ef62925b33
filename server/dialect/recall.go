package dialect

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"unsafe"

	"github.com/agentinfer/dyn/turn"
)

// Recall remembers recent bodies, so that the part of the next one that is
// the same is recognised and not read again. Of each conversation it keeps the
// bytes of its elements and the messages that they were decoded to; a body
// whose conversation begins with the same bytes takes over those messages,
// the very same values with their keys (see package key), and only the rest is
// decoded and hashed. Lists of tools and
// system prompts are recognised whole, in any conversation.
//
// What a client gets never depends on it: bytes are compared, not hashes. Its
// messages and tools are shared by many turns and must not be written to; the
// slice Turn.Messages itself is the turn's own.
//
// What is remembered is found by its bytes, in the order of which it stands:
// among many conversations that begin alike, the one that goes on is found with
// a few comparisons, of which one is long. Conversations that came once take a
// quarter of the room at most; the last ones of them that had to go are still
// known by a hash, so that one that comes again is kept with those that do.
//
// It is safe for concurrent use. A conversation belongs to one decoding at a
// time; another one of the same session, at the same moment, reads its body
// whole.
type Recall struct {
	mu     sync.Mutex
	talks  shelf[*entry]
	parts  shelf[*passage]           // takes at most a quarter of the room
	seen   seen                      // conversations that came once, when they come again
	counts struct{ hits, all int64 } // bytes of conversations taken over, and seen
}

// NewRecall returns a Recall that holds about so many bytes at most.
func NewRecall(bytes int) *Recall {
	return &Recall{talks: newShelf[*entry](bytes / 4 * 3), parts: newShelf[*passage](bytes / 4), seen: seen{in: map[uint64]bool{}}}
}

// Clear forgets all that is remembered but how the Recall fared. What is being
// decoded meanwhile is remembered again.
func (rc *Recall) Clear() {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.talks, rc.parts = newShelf[*entry](rc.talks.most), newShelf[*passage](rc.parts.most)
	rc.seen = seen{in: map[uint64]bool{}}
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
	return RecallStats{rc.talks.bytes + rc.parts.bytes, rc.talks.count, rc.counts.hits, rc.counts.all}
}

// Limits of what is remembered.
const (
	recallBody   = 4 << 10 // bodies below are read as fast as they are found
	talkLeast    = 8 << 10 // and so are conversations below
	partLeast    = 1 << 10
	partMost     = 2 << 20
	recallPrefix = 256
	seenMost     = 8 << 10
)

// entry is a conversation. Its bytes are those of the array: from its bracket
// to the end of its last element.
type entry struct {
	spot
	dialect  turn.Dialect
	elements []element
	messages []turn.Message
	spaces   uint64 // of the tools by which calls got their names
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
	spot
	dialect turn.Dialect
	key     string
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
	e, same, at := rc.talks.near(bucket, rest)
	if e != nil && e.dialect == d {
		elements = e.begins(same)
	}
	switch {
	case elements == 0:
		return nil, 0
	case 2*elements >= len(e.elements):
		rc.talks.dropAt(e, at)
		e.again = true
		return e, elements
	}
	return e.prefix(elements), elements
}

// begins returns how many elements end in the first bytes of the conversation.
func (e *entry) begins(bytes int) int {
	n, _ := slices.BinarySearchFunc(e.elements, bytes, func(l element, bytes int) int { return cmp.Compare(int(l.end), bytes+1) })
	return n
}

// prefix returns a copy of the first n elements.
func (e *entry) prefix(n int) *entry {
	last := e.elements[n-1]
	return &entry{
		spot:    spot{bucket: e.bucket, raw: append([]byte(nil), e.raw[:last.end]...)},
		dialect: e.dialect, spaces: e.spaces,
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
	if !e.again {
		e.again = rc.seen.before(e.opening())
	}
	rc.talks.put(e)
}

// opening identifies a conversation by how it begins, up to the user's first
// message.
func (e *entry) opening() uint64 {
	end := uint32(len(e.raw))
	for _, l := range e.elements {
		if e.messages[l.messages-1].Role == turn.User {
			end = l.end
			break
		}
	}
	return maphash.Bytes(seed, e.raw[:end]) ^ e.bucket
}

// seen remembers the last ones of many conversations.
type seen struct {
	in   map[uint64]bool
	ring []uint64
	next int
}

// before notes a conversation, and reports whether it was noted before.
func (s *seen) before(id uint64) bool {
	if s.in[id] {
		return true
	}
	s.in[id] = true
	if len(s.ring) < seenMost {
		s.ring = append(s.ring, id)
		return false
	}
	delete(s.in, s.ring[s.next])
	s.ring[s.next] = id
	s.next = (s.next + 1) % seenMost
	return false
}

// Sizes of what a conversation is made of.
const (
	elementSize = int(unsafe.Sizeof(element{}))
	messageSize = int(unsafe.Sizeof(turn.Message{}))
	blockSize   = int(unsafe.Sizeof(turn.Block{}))
	toolSize    = int(unsafe.Sizeof(turn.Tool{}))
	entryRest   = int(unsafe.Sizeof(entry{})) + 192 // its places on the shelf
)

// weigh sets the conversation's size. Its texts are about as long as its
// bytes; what lies between them in memory is added.
func (e *entry) weigh() {
	e.size = entryRest + cap(e.raw) + len(e.raw)*9/8 + elementSize*cap(e.elements) + messageSize*cap(e.messages)
	for i := range e.messages {
		e.size += blockSize * cap(e.messages[i].Blocks)
	}
}

// partBucket is where parts are looked for.
func partBucket(d turn.Dialect, key string) uint64 {
	return maphash.String(seed, string(d)) + maphash.String(seed, key)
}

// find returns the part with which a value begins, whole, or nil. A whole
// value begins no other one, so there is one at most.
func (rc *Recall) find(d turn.Dialect, key string, rest []byte) *passage {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	p, same, _ := rc.parts.near(partBucket(d, key), rest)
	if p == nil || p.dialect != d || p.key != key || same < len(p.raw) {
		return nil
	}
	rc.parts.touch(p)
	return p
}

// learn keeps a part.
func (rc *Recall) learn(p *passage) {
	p.size, p.again = entryRest+len(p.raw)*17/8+len(p.tools)*toolSize+len(p.messages)*messageSize, true
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.parts.put(p)
}
