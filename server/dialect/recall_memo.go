package dialect

import (
	"bytes"
	"hash/maphash"

	"github.com/agentinfer/dyn/prompt/key"
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// memo is what one decoding takes from a Recall and brings to it. The methods
// of a nil memo do nothing.
type memo struct {
	rc      *Recall
	dialect turn.Dialect
	bucket  uint64
	body    []byte
	header  func(string) string

	asked    [recalledFields]bool // fields that were looked for
	found    [recalledFields]*passage
	learned  []*passage
	e        *entry // the conversation; taken, or new
	taken    int    // elements that were taken over
	small    bool   // the conversation is not to be remembered
	start    int    // offset of the conversation in body
	began    int    // asks before it
	elements []element
	messages []turn.Message
	spaces   uint64
}

// again is the problem of a memo that does not fit; the body is read without.
var again = &Problem{Message: "what is remembered does not fit"}

// memo begins a decoding; nil where nothing is to be remembered.
func (rc *Recall) memo(d turn.Dialect, body []byte, header func(string) string) *memo {
	if rc == nil || len(body) < recallBody {
		return nil
	}
	return &memo{rc: rc, dialect: d, body: body, header: header}
}

// fields that a Recall knows again.
const (
	recalledList = iota
	recalledLead
	recalledTools
	recalledFields
)

// field returns which of them a key is, or -1.
func (m *memo) field(key string) int {
	switch names := recalled[m.dialect]; key {
	case "tools":
		return recalledTools
	case names.list:
		return recalledList
	case names.lead:
		if key != "" {
			return recalledLead
		}
	}
	return -1
}

// look is tape's question for what is known of a field.
func (m *memo) look(key, rest []byte) tape.Skip {
	f := m.field(string(key))
	if f < 0 || m.asked[f] {
		return tape.Skip{}
	}
	m.asked[f] = true
	if f != recalledList {
		if p := m.rc.find(m.dialect, string(key), rest); p != nil {
			m.found[f] = p
			return tape.Skip{Bytes: len(p.raw), Nodes: p.nodes}
		}
		return tape.Skip{}
	}
	if len(rest) < talkLeast {
		return tape.Skip{}
	}
	m.bucket = bucketOf(m.dialect, m.body, m.header)
	if m.e, m.taken = m.rc.take(m.bucket, m.dialect, rest); m.e == nil {
		return tape.Skip{}
	}
	last := m.e.elements[m.taken-1]
	return tape.Skip{Bytes: int(last.end), Nodes: int(last.nodes), Elements: m.taken}
}

// part returns the part that was recognised as v, or nil.
func (m *memo) part(v tape.Value, key string) *passage {
	if m == nil || v.Skipped().Bytes == 0 {
		return nil
	}
	return m.found[m.field(key)]
}

// keep remembers what was made of v, when the decoding succeeds.
func (m *memo) keep(v tape.Value, made passage) {
	if n := len(v.Raw()); m == nil || n < partLeast || n > partMost {
		return
	}
	p := new(passage)
	*p = made // on the heap only when it is kept
	key.Note(p.messages)
	p.dialect, p.bucket = m.dialect, partBucket(m.dialect, p.key)
	p.raw, p.nodes = bytes.Clone(v.Raw()), v.Nodes()-1
	m.learned = append(m.learned, p)
}

// known returns how many messages resume will take over.
func (m *memo) known(list tape.Value) int {
	if m == nil || list.Skipped().Elements == 0 {
		return 0
	}
	return int(m.e.elements[m.taken-1].messages)
}

// resume begins a conversation: it appends what is taken over to ms, and notes
// that the decoding must go without when calls would get other names.
func (m *memo) resume(r *reader, list tape.Value, ms []turn.Message) []turn.Message {
	if m == nil || r.failed() || list.Kind() != tape.Array {
		return ms
	}
	m.elements, m.messages = nil, nil
	if list.Skipped().Elements == 0 && (len(list.Raw()) < talkLeast || !m.asked[recalledList]) {
		m.small, m.e = true, nil
		return ms
	}
	m.start, m.began, m.spaces = list.Start(), r.asks, spacesOf(r.known)
	m.elements = make([]element, 0, list.Len())
	if list.Skipped().Elements == 0 {
		m.taken = 0
		m.e = nil
		return ms
	}
	if m.e.spaces != m.spaces {
		r.fault = again
		return ms
	}
	last := m.e.elements[m.taken-1]
	ms = append(ms, m.e.messages[:last.messages]...)
	tail := &ms[len(ms)-1].Blocks
	*tail = (*tail)[:last.blocks:last.blocks]
	r.asks += int(last.asks)
	if r.asks > leasesMost {
		r.fault = again
	}
	m.messages = ms
	return ms
}

// note notes that ms is what was made of the conversation up to v.
func (m *memo) note(r *reader, v tape.Value, ms []turn.Message) {
	if m == nil || m.small || r.failed() || len(ms) == 0 {
		return
	}
	nodes := 0
	if n := len(m.elements); n > 0 {
		nodes = int(m.elements[n-1].nodes)
	} else if m.taken > 0 {
		nodes = int(m.e.elements[m.taken-1].nodes)
	}
	m.messages = ms
	m.elements = append(m.elements, element{
		end: uint32(v.End() - m.start), nodes: uint32(nodes + v.Nodes()),
		messages: uint32(len(ms)), blocks: uint32(len(ms[len(ms)-1].Blocks)), asks: uint32(r.asks - m.began),
	})
}

// end brings to the Recall what the decoding was told, if it succeeded. One
// that failed has no use for what it took.
func (m *memo) end(ok bool) {
	if !ok {
		return
	}
	for _, p := range m.learned {
		m.rc.learn(p)
	}
	if len(m.elements) == 0 && m.e == nil {
		return
	}
	old, end := 0, 0 // messages and bytes that stay as they are
	if m.e == nil {
		m.e = &entry{spot: spot{bucket: m.bucket}, dialect: m.dialect, spaces: m.spaces}
	} else {
		last := m.e.elements[m.taken-1]
		old, end = int(last.messages)-1, int(last.end) // the last message may have grown
	}
	m.rc.count(end, m.elements)
	e := m.e
	e.elements = append(e.elements[:m.taken], m.elements...)
	whole := int(e.elements[len(e.elements)-1].end)
	e.raw = append(e.raw[:end], m.body[m.start+end:m.start+whole]...)
	key.Note(m.messages[old:])
	clear(e.messages[min(len(e.messages), len(m.messages)):])
	e.messages = append(e.messages[:old], m.messages[old:]...)
	m.rc.put(e)
}

// count counts what was recognised of a conversation.
func (rc *Recall) count(known int, fresh []element) {
	whole := known
	if n := len(fresh); n > 0 {
		whole = int(fresh[n-1].end)
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.counts.hits += int64(known)
	rc.counts.all += int64(whole)
}

// spacesOf identifies the table by which replayed calls find their flat names.
func spacesOf(tools []turn.Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range tools {
		if t := &tools[i]; t.Namespace != "" {
			for _, s := range []string{t.Namespace, t.Bare, t.Name} {
				h.WriteString(s)
				h.WriteByte(0)
			}
		}
	}
	return h.Sum64()
}
