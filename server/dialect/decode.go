package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// form is how one API's body is read. What is the same in all three, decode
// does.
type form interface {
	base() *reader
	// fields reads the API's own fields into t.
	fields(t *turn.Turn, root tape.Value)
	// tool appends a tool to those of the turn, or leaves it out.
	tool(set *toolSet, v tape.Value)
	// lead returns the messages that stand before the conversation.
	lead(root tape.Value) []turn.Message
	// list returns the array of the conversation, or what stands for it when
	// it is none; a problem is noted.
	list(root tape.Value) (tape.Value, []turn.Message)
	// element appends an element of the conversation.
	element(ms []turn.Message, v tape.Value) []turn.Message
	// rest reads what needs the tools and the messages: what is to be called.
	rest(t *turn.Turn, root tape.Value)
	// who identifies the turn.
	who(t *turn.Turn, root tape.Value) turn.Who
}

// names of the fields that a Recall knows again, by dialect: the array of the
// conversation and the parts before it.
var recalled = map[turn.Dialect]struct{ list, lead string }{
	turn.Messages:  {"messages", "system"},
	turn.Responses: {"input", "instructions"},
	turn.Chat:      {"messages", ""},
}

// decode reads a body. With a Recall it goes on from a former body; when that
// meets any problem, the body is read once more without, so that what clients
// are told never depends on what is remembered.
func decode(d turn.Dialect, fresh func(*reader) form, body []byte, header func(string) string, rc *Recall) (*turn.Turn, error) {
	header = looked(header)
	if m := rc.memo(d, body, header); m != nil {
		t, fault := read(d, fresh(&reader{header: header, memo: m}), body)
		m.end(fault == nil)
		if fault == nil {
			return t, nil
		}
	}
	t, fault := read(d, fresh(&reader{header: header}), body)
	if fault != nil {
		return nil, fault
	}
	return t, nil
}

// read reads a body in its form.
func read(d turn.Dialect, f form, body []byte) (*turn.Turn, *Problem) {
	r := f.base()
	doc, fault := r.parse(body)
	if fault != nil {
		return nil, fault
	}
	defer doc.Free()
	root := doc.Root()
	t := &turn.Turn{Dialect: d, Model: r.needed(root, "model"), Stream: r.flag(root, "stream")}
	f.fields(t, root)
	t.Tools = r.tools(f, root)
	r.known = t.Tools
	t.Messages = r.conversation(f, root)
	f.rest(t, root)
	r.sampling(&t.Sampling, root)
	r.hints(t, root)
	t.Who = f.who(t, root)
	if r.failed() {
		return nil, r.fault
	}
	return t, nil
}

// tools returns the tools that are the client's own; hosted ones are dropped.
func (r *reader) tools(f form, root tape.Value) []turn.Tool {
	list := r.field(root, "tools", tape.Array)
	if p := r.memo.part(list, "tools"); p != nil {
		r.asks, r.offer = r.asks+p.asks, p.offer
		return p.tools
	}
	if list.Empty() {
		return nil
	}
	set := toolSet{list: make([]turn.Tool, 0, min(list.Len(), toolsMost))}
	asks := r.asks
	for _, v := range list.Elements() {
		if v.Kind() != tape.Object {
			r.fail(v, "must be an object, not %s", kindName(v.Kind()))
		}
		if r.failed() {
			return nil
		}
		r.offer.see(v)
		v.Own(ownMost)
		f.tool(&set, v)
	}
	list.Own(0)
	var tools []turn.Tool
	if n := len(set.list); n > 0 {
		tools = set.list[:n:n]
	}
	r.memo.keep(list, passage{key: "tools", asks: r.asks - asks, tools: tools, offer: r.offer})
	return tools
}

// conversation returns all messages: those before the conversation and it.
func (r *reader) conversation(f form, root tape.Value) []turn.Message {
	lead := r.leading(f, root)
	list, instead := f.list(root)
	if r.failed() || instead != nil {
		return append(lead, instead...)
	}
	n := len(lead)
	fresh := list.Len()
	all := append(make([]turn.Message, 0, n+r.memo.known(list)+fresh), lead...)
	r.room = make([]turn.Block, 0, min(fresh+fresh/2, roomMost))
	ms := r.memo.resume(r, list, all[n:n])
	for _, v := range list.Elements() {
		if v.Kind() != tape.Object {
			r.fail(v, "must be an object, not %s", kindName(v.Kind()))
		}
		if r.failed() {
			return nil
		}
		v.Own(ownMost)
		ms = f.element(ms, v)
		r.memo.note(r, v, ms)
	}
	list.Own(0)
	if len(ms) <= cap(all)-n { // still in its place behind the others
		return all[:n+len(ms)]
	}
	return append(all, ms...)
}

// leading returns the messages before the conversation, remembered ones as
// they are.
func (r *reader) leading(f form, root tape.Value) []turn.Message {
	key := recalled[r.dialect].lead
	v := root.Key(key)
	if p := r.memo.part(v, key); p != nil {
		r.asks += p.asks
		return p.messages[:len(p.messages):len(p.messages)]
	}
	asks := r.asks
	ms := f.lead(root)
	r.memo.keep(v, passage{key: key, asks: r.asks - asks, messages: ms})
	return ms[:len(ms):len(ms)]
}

// nonEmpty returns the array of a conversation, which must hold something.
func (r *reader) nonEmpty(root tape.Value, key string) tape.Value {
	list := r.field(root, key, tape.Array)
	switch {
	case r.failed():
	case list.Kind() == tape.None:
		r.lacks(root, key)
	case list.Empty() && list.Skipped().Elements == 0:
		r.fail(list, "at least one message is required")
	}
	return list
}

// ownMost is the largest message or tool whose texts are parts of one copy. Who
// keeps one of its texts keeps them all, and what stands between them: that
// is less than the copies of their own would take, as long as no image is
// among them.
const ownMost = 32 << 10

// roomMost bounds how many blocks lie together, which live as long as one of
// them.
const roomMost = 32

// allot returns room for n blocks: nil for none.
func (r *reader) allot(n int) []turn.Block {
	if n == 0 {
		return nil
	}
	at := len(r.room)
	if cap(r.room)-at < n {
		r.room, at = make([]turn.Block, 0, max(n, min(2*cap(r.room), roomMost))), 0
	}
	r.room = r.room[:at+n]
	return r.room[at : at : at+n]
}

// one returns a single block as a message's.
func (r *reader) one(b turn.Block) []turn.Block { return append(r.allot(1), b) }

// blocks appends the blocks of a content that is an array of objects; those
// that came before a problem stay.
func (r *reader) blocks(blocks []turn.Block, list tape.Value, each func([]turn.Block, tape.Value) []turn.Block) []turn.Block {
	for _, p := range list.Elements() {
		if p.Kind() != tape.Object {
			r.fail(p, "must be an object, not %s", kindName(p.Kind()))
		}
		if r.failed() {
			return blocks
		}
		blocks = each(blocks, p)
	}
	return blocks
}

// plain returns the block of a text part, whose text is under key.
func (r *reader) plain(p tape.Value, key string) turn.Block {
	text := r.field(p, key, tape.String)
	if text.Kind() == tape.None {
		r.lacks(p, key)
	}
	return turn.Block{Kind: turn.Text, Text: text.Text(), Lease: r.lease(p)}
}

// kept returns a block of the client's own JSON.
func (r *reader) kept(kind turn.BlockKind, p tape.Value) turn.Block {
	return turn.Block{Kind: kind, Raw: p.Bytes(), Lease: r.lease(p)}
}
