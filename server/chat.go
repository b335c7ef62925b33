package server

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// The chat path: a turn goes to its worker's own chat API, which makes the
// prompt. It is taken
//
//   - where the model's Prompt only stands for the engine's own tokenizer and
//     template (Model.Stands);
//   - where the turn has images that a worker sees;
//   - at a worker whose template was found to make another prompt
//     (turn.WorkerInfo.Chat).
//
// The prompt that we make is then good for one thing, to tell how much two
// turns have in common: images stand in it as the hash of what they hold, and
// what a worker has of it is always assumed, since its events tell other ids.
// Its length is a guess, so that the engine says what is too long. No raw turn
// is kept, as the engine renders what the client has of an answer; and a turn
// of which the client has something cannot go on at another worker: there is
// no way to say so to a chat API.

// images is why a turn with some takes the chat path.
const images = "it has images"

// see puts what images hold in their place, where a worker of the model sees
// them, and returns the turn as it was, for that worker. nil is a turn without.
func (m *model) see(t *turn.Turn, d *demand) *turn.Turn {
	if t.Dialect == turn.Completions || !m.sees() {
		return nil
	}
	seen, n := prompt.Seen(t)
	if n == 0 {
		return nil
	}
	whole := *t
	t.Messages = seen.Messages
	d.images = n
	return &whole
}

// sees reports whether some worker sees images.
func (m *model) sees() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.members {
		if b.info.Caps.Vision && b.info.Caps.Chat {
			return true
		}
	}
	return false
}

// way is why a flight takes the chat path at a member; "" is by ids. mu must be
// held.
func (m *model) way(f *flight, b *member) string {
	switch {
	case f.t.Dialect == turn.Completions || !b.info.Caps.Chat:
		return ""
	case m.Stands != "":
		return m.Stands
	case f.demand.images > 0:
		return images
	}
	return b.info.Chat
}

// path is how conversations with the model go, where all go one way.
func (m *model) path() string {
	if m.Stands != "" {
		return "chat"
	}
	return "tokens"
}

// pathTo is how turns go to a member, and why not all by tokens; mu must be
// held.
func (m *model) pathTo(b *member) (path, why string) {
	caps := b.info.Caps
	switch {
	case m.Stands != "":
		return "chat", m.Stands
	case caps.Chat && b.info.Chat != "":
		return "chat", b.info.Chat
	case caps.Chat && caps.Vision:
		return "both", "turns with images take its chat API"
	}
	return "tokens", ""
}

// spoke reports whether the client has, or may have, something of the answer
// beyond its given beginning.
func (f *flight) spoke() bool { return len(f.said) > f.opened }

// jobAt is the flight's job as a seat's worker takes it.
func (f *flight) jobAt(st *seat) turn.Job {
	j := f.job
	if st.chat == "" {
		j.MaxTokens = min(j.MaxTokens, st.context-j.Prompt.Len()) // workers may differ in what they take
		if len(f.said) < f.opened {
			f.said = f.said[:f.opened] // the chat path was tried before
		}
		return j
	}
	f.said = f.said[:0] // a chat has no given beginning
	if j.Chat = f.original; j.Chat == nil {
		j.Chat = f.t
	}
	j.Switches = f.m.Prompt.Template().Switches(j.Chat)
	j.Stop, j.StopIDs = f.t.Stop, nil
	if f.closing != "" {
		j.Format = turn.Format{} // of a call's arguments alone
	}
	if j.MaxTokens = f.t.MaxTokens; j.MaxTokens > st.context-f.guess() {
		j.MaxTokens = 0 // what the context leaves; over cuts what is more
	}
	f.untold = j.MaxTokens == 0
	return j
}

// What a prompt may have more tokens than ours: a share of it, and so many for
// each image.
const (
	guessShare  = 4
	imageTokens = 2048
)

// guess is how many tokens the engine's own prompt has at most, most likely.
func (f *flight) guess() int { return f.asked + f.asked/guessShare + f.demand.images*imageTokens }

// over reports whether an answer is to be cut: a chat's that is as long as the
// client wants it to be at most, where the engine was not told and the tokens
// are its own; and any that goes on far beyond its limit, as of an engine that
// minds none.
func (f *flight) over(st *seat) bool {
	n, most := len(f.said), f.limit
	if st.chat != "" {
		if f.untold && f.m.Stands == "" && f.t.MaxTokens > 0 && n >= f.t.MaxTokens {
			return true
		}
		most = st.context // more cannot be
	}
	return n > overTimes*most+overTokens
}

// An answer may be so much longer than its limit, since our count of its tokens
// is not the engine's where that tells no ids.
const (
	overTimes  = 2
	overTokens = 64
)

// spoken is all that a delta says, whoever has read it.
func spoken(d *turn.Delta) string {
	if len(d.Events) == 0 {
		return d.Text
	}
	var b strings.Builder
	for _, e := range d.Events {
		b.WriteString(e.Call.Name)
		b.WriteString(e.Text)
	}
	b.WriteString(d.Text)
	return b.String()
}

// read takes events that the engine has read out of its answer. Its calls get
// ids in the form of the client's dialect.
func (an *analysis) read(es []turn.Event) {
	for _, e := range es {
		if an.drops(e) {
			continue
		}
		switch e.Kind {
		case turn.Reasoning:
			an.unthink()
		case turn.CallStart:
			e.Call.ID = dialect.NewCallID(an.f.t.Dialect)
			an.given, an.open = an.given+1, true
			e.Call.Index += an.parser.Calls()
		case turn.CallArgs, turn.CallEnd:
			an.open = e.Kind != turn.CallEnd
			e.Call.Index += an.parser.Calls()
		}
		an.buf = append(an.buf, e)
	}
}

// behind counts the calls of the parser's events, from one on, behind those that
// the engine has given.
func (an *analysis) behind(from int) {
	if an.given == 0 {
		return
	}
	for i := range an.buf[from:] {
		if e := &an.buf[from+i]; e.Kind >= turn.CallStart && e.Kind <= turn.CallEnd {
			e.Call.Index += an.given
		}
	}
}

// unthink has the parser begin with text where the prompt ended in open
// reasoning: the engine reads that.
func (an *analysis) unthink() {
	if !an.f.thinks || an.unthought {
		return
	}
	an.unthought = true
	an.parser = an.f.parser(true)
}

// shut ends a call of the engine's that is open when the answer ends.
func (an *analysis) shut() {
	if an.open {
		an.open = false
		an.buf = append(an.buf, turn.Event{Kind: turn.CallEnd, Call: turn.Call{Index: an.parser.Calls() + an.given - 1}})
	}
}

// onlyOne drops the events of further calls, from one on, where the client
// wants one at most.
func (an *analysis) onlyOne(from int) {
	if !an.f.t.OneCall {
		return
	}
	an.buf = append(an.buf[:from], slices.DeleteFunc(an.buf[from:], func(e turn.Event) bool {
		return e.Kind >= turn.CallStart && e.Kind <= turn.CallEnd && e.Call.Index > 0
	})...)
}

// assume notes that a member got a turn with this chain by its chat API. One
// that tells its blocks does so in other ids, so what it has of chats is held
// apart; mu must be held.
func (m *model) assume(b *member, chain []uint64) {
	h := b.holder
	if b.info.Caps.Events {
		var err error
		if h, err = b.index.Join(b.info.Name + ofChats); err != nil {
			return // the index is full
		}
		b.chats = h
	}
	b.index.Assume(h, chain, b.info.Caps.KVTokens/b.index.Block())
}

// ofChats is what the name of such a holder ends in.
const ofChats = " chats"

// unassume forgets what a member is taken to have of chats; mu must be held.
func (b *member) unassume() {
	if b.index != nil && b.chats != 0 {
		b.index.Drop(b.chats)
	}
	b.chats = 0
}

// restarted reports whether events tell that all is forgotten.
func restarted(es []turn.KVEvent) bool {
	return slices.ContainsFunc(es, func(e turn.KVEvent) bool { return e.Kind == turn.KVRestart })
}

// length is what a flight's prompt counts as to the router: a guess is never
// too long.
func (m *model) length(f *flight) int {
	n := f.job.Prompt.Len()
	if m.Stands != "" {
		n = min(n, max(m.room()-1, 0))
	}
	return n
}

// exact refuses what needs the engine's own tokenizer.
func (m *model) exact(what string) error {
	if m.Stands == "" {
		return nil
	}
	return &dialect.Problem{Kind: dialect.Invalid, Message: what + " needs the tokenizer of " + m.ID + ", which dyn does not have: " + m.Stands + "; its conversations are served by its engine's own chat API"}
}
