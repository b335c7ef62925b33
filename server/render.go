package server

import (
	"strings"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/life"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// render makes the prompt's ids and block hashes, and checks that they fit.
func (f *flight) render() error {
	p, limit, err := f.build()
	if err != nil {
		return err
	}
	room := max(limit-p.IDs.Len(), 1)
	if f.t.MaxTokens > 0 {
		room = min(room, f.t.MaxTokens)
	}
	f.rolling, f.chains, f.lead = p.Rolling, p.Chains, p.Opening
	f.head = p.Head
	f.marks, f.tail, f.asked, f.limit, f.textOnly = p.Marks, p.Tail, p.IDs.Len(), room, p.Former
	var known bool
	if f.thinks, known = f.m.Parser.Begins(p.Tail); !known {
		f.thinks = p.Thinks
	}
	f.row.Edited, f.hidden, f.lasting = p.Edited, p.Hidden, p.Lasting
	f.parted(p.Break, p.Alone)
	f.job = turn.Job{
		ID: f.t.ID, Prompt: p.IDs, MaxTokens: room, Stop: f.t.Stop, StopIDs: f.m.Prompt.StopIDs(), Marks: f.m.Prompt.Marks(),
		Sampling: f.t.Sampling, Salt: f.t.Salt, Priority: f.t.Hints.Priority,
	}
	f.force()
	return nil
}

// build makes the prompt, with the agent's last one as a help. One that does
// not fit is not kept, clients may send any number of them: the next is told
// from the one before.
func (f *flight) build() (p session.Built, limit int, err error) {
	limit = f.m.context()
	q := session.Asked{
		Model: f.m.Prompt, Turn: f.t, Known: f.known, Raw: f.m.raw,
		Seed: cache.SaltSeed("", f.t.Salt), Blocks: f.m.blocks(), AsIs: f.m.Stands != "" || f.original != nil,
	}
	if f.m.Stands == "" {
		q.Most = max(limit-1, 0)
	}
	p, err = f.a.Build(q)
	if p.Left != nil {
		f.s.sessions.Holds(p.Left, p.Left.Held())
		f.s.ends(p.Left, f.t.Arrived, life.AgentEnded, bySeen, "a fork took its prompt over")
	}
	if err == nil && p.Former && p.IDs.Len()+summaryRoom > limit { // the client did not count the tools
		q.AsIs = true
		p, err = f.a.Build(q)
	}
	f.s.sessions.Holds(f.a, p.Bytes)
	if err != nil {
		return p, 0, &dialect.Problem{Kind: dialect.Invalid, Message: err.Error()}
	}
	if limit == 0 {
		return p, 0, f.m.unavailable()
	}
	if limit <= p.IDs.Len() && f.m.Stands == "" {
		err = &dialect.Problem{Kind: dialect.TooLong, Prompt: p.IDs.Len(), Limit: limit}
	}
	return p, limit, err
}

// summaryRoom is how many tokens a summary may take at least.
const summaryRoom = 2048

// extend makes the chains those of a prompt that goes on from the one as asked.
func (f *flight) extend() {
	seed := cache.SaltSeed("", f.t.Salt)
	for block, chain := range f.chains {
		n := min(len(chain), f.asked/block)
		f.chains[block] = cache.ExtendIDs(chain[:n:n], seed, f.job.Prompt, block)
	}
}

// raw is the answer as the model gave it, to be repeated in later prompts.
// key is the rolling hash of the history that it ends.
func (f *flight) raw(key uint64, answer turn.Message, ids []uint32) turn.RawTurn {
	var thoughts []string
	for _, b := range answer.Blocks {
		if b.Kind == turn.ThinkingBlock && b.Text != "" {
			thoughts = append(thoughts, b.Text)
		}
	}
	return turn.RawTurn{
		Key: key, Session: f.t.Who.Session, Opening: f.lead, IDs: ids,
		Thinking: strings.Join(thoughts, "\n"), At: time.Now(),
	}
}

// whole reports whether an answer that was broken off is all that its ids say:
// it ends in text that the client got. Of half a call the client has nothing, or
// what it made of it, and open reasoning is closed by the template, so such an
// answer is rendered from the client's copy.
func (f *flight) whole(answer turn.Message, ids []uint32) bool {
	n := len(answer.Blocks)
	if n == 0 || answer.Blocks[n-1].Kind != turn.Text {
		return false
	}
	// Half a character at the end may have reached the client or not.
	text := strings.TrimSpace(strings.TrimRight(answer.Blocks[n-1].Text, "\uFFFD"))
	said := strings.TrimSpace(f.spelled(ids))
	return strings.HasSuffix(said, text) && (text != "" || said == "")
}

// spelled is the text of ids as a stream's readers get it, without halves of
// characters at its end.
func (f *flight) spelled(ids []uint32) string {
	d := f.m.Prompt.Tokenizer().Decoder()
	var text []byte
	for _, id := range ids {
		text = d.Push(text, id)
	}
	return strings.TrimRight(string(text), "\uFFFD")
}

// history is the rolling hash of the turn's messages.
func (f *flight) history() uint64 {
	if n := len(f.rolling); n > 0 {
		return f.rolling[n-1]
	}
	return prompt.Root(f.t)
}
