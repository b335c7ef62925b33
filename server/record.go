package server

import (
	"errors"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// begin notes that the flight exists.
func (f *flight) begin() {
	t := f.t
	f.row = ledger.Turn{
		ID: t.ID, At: t.Arrived, Dialect: string(t.Dialect), Harness: t.Who.Harness, Session: t.Who.Session,
		Agent: t.Who.Agent, Parent: t.Who.Parent, Kind: t.Who.Kind, Model: t.Model, Stream: t.Stream,
		Tenant: t.Tenant, Format: formatName(t.Format), Priority: t.Hints.Priority, Strict: t.Hints.Strict, Class: className(t.Class()), Messages: len(t.Messages),
		Tools: len(t.Tools), MaxTokens: f.job.MaxTokens, Prompt: f.asked, Cached: -1, TTFTMS: -1, Edited: f.row.Edited, Break: f.row.Break,
	}
	f.came()
	f.s.aloft.Store(t.ID, f)
	f.comes(t.Arrived)
	f.a.Note(func(g *session.Figures) {
		g.Turns++
		g.Waiting++
		g.Context = f.asked
	})
}

// seated notes a decision: the row's first form is written now, so that a
// daemon that dies leaves a trace of the turns it was serving.
func (f *flight) seated(st *seat) {
	now := time.Now()
	f.advance(waits, prefills)
	var room [1024]byte // of most decisions
	f.overlap.Store(int64(st.held))
	f.tells.Store(st.tells)
	f.row.Chat = st.chat
	f.row.Worker, f.row.Decision, f.row.Overlap = st.decision.Worker, string(st.decision.AppendJSON(room[:0])), st.held
	if f.row.Moved == 0 {
		f.row.QueueMS = ms(now.Sub(f.t.Arrived))
	}
	f.leases(st, now)
	f.s.ledger.Turn(f.row)
	f.a.Note(func(g *session.Figures) {
		g.Worker = st.decision.Worker
		g.Overlap = ratio(st.held, f.asked)
	})
}

// started notes the first token of a worker; the flight's figures are those of
// the very first.
func (f *flight) started(st *seat) {
	st.started()
	if !f.advance(prefills, streams) {
		return
	}
	now := time.Now()
	ttft := now.Sub(f.t.Arrived)
	f.row.TTFTMS = ms(ttft)
	f.first = now
	count := func(s *gauge.Sums) { s.TTFT.Add(ttft) }
	st.member.window.Add(now, count)
	f.s.recent.Add(now, count)
	f.s.history.Add(now, count)
	f.a.Note(func(g *session.Figures) { g.TTFT = ttft })
}

// advance takes the flight from one step to another, for the screen too; false
// when it was not there.
func (f *flight) advance(from, to int32) bool {
	if !f.step.CompareAndSwap(from, to) {
		return false
	}
	f.a.Note(func(g *session.Figures) {
		*stepOf(g, from)--
		*stepOf(g, to)++
	})
	return true
}

// stepOf is the count of an agent's turns that are at a step.
func stepOf(g *session.Figures, step int32) *int {
	return [...]*int{waits: &g.Waiting, prefills: &g.Prefill, streams: &g.Streaming}[step]
}

// land ends the flight and writes its record, once. an is nil when the
// answer never began.
func (f *flight) land(an *analysis, err error) {
	was := f.step.Swap(landed)
	if was == landed {
		return
	}
	f.cancel(nil)
	defer f.s.aloft.Delete(f.t.ID) // last: who waits for landings waits for their records
	f.await()                      // row and said are ours now
	now := time.Now()
	f.row.TotalMS = ms(now.Sub(f.t.Arrived))
	f.row.Outcome, f.row.Error = f.outcome(an, err)
	if an != nil {
		f.row.Flawed = an.flawed
	}
	var answer uint64
	switch {
	case an != nil && an.reason != "":
		f.ended(an, now)
		answer = an.after
	case an != nil && f.left.Load() && f.row.Moved == 0 && an.ids > f.opened: // a user's interrupt: the client has what was read
		answer = f.keep(an, f.said[:min(an.ids, len(f.said))])
		fallthrough
	default:
		f.row.Output = len(f.said)
	}
	f.s.sessions.Said(f.a, f.rolling, f.exact, answer)
	f.a.Note(func(g *session.Figures) {
		*stepOf(g, was)--
		g.Context = f.row.Prompt + f.row.Output
		g.Last, g.Landed = now, now
	})
	f.rests(an, now)
	f.s.leases.Rests(now, f.line(), f.away(an))
	f.settle(now)
	if f.choice == 0 {
		f.s.count.hidden.Add(int64(f.hidden))
	}
	f.s.count.outcome(f.row)
	f.s.ledger.Turn(f.row)
}

// settle takes the flight's tokens off its key's limit and gives its place
// back. The prompt counts once, however many answers were asked for, and not
// at all when no worker took it.
func (f *flight) settle(now time.Time) {
	used := f.row.Output
	if !f.again && f.row.Worker != "" && f.row.Outcome != "reject" {
		used += f.row.Prompt
	}
	switch {
	case f.choice > 0:
		f.who.Spend(now, used)
	case f.let:
		f.let = false
		f.who.Leave(now, used)
	}
}

// ended takes the engine's usage into row, windows and figures.
func (f *flight) ended(an *analysis, now time.Time) {
	u := an.usage
	f.row.Prompt, f.row.Output, f.row.Thinking = u.Prompt, u.Output, u.Thinking
	told := f.tells.Load() // an engine that tells no cached tokens is no miss
	if told {
		f.row.Cached = u.Cached
		f.a.Note(func(g *session.Figures) { g.Hit = ratio(u.Cached, u.Prompt) })
	}
	count := func(s *gauge.Sums) {
		s.Ended++
		s.Output += u.Output
		if told {
			s.EndedPrompt += u.Prompt
			s.EndedCached += u.Cached
		}
		if told && f.row.Chat == "" {
			s.Judged++
			s.JudgedPrompt += u.Prompt
			s.JudgedOverlap += f.row.Overlap
			s.JudgedCached += u.Cached
		}
		if u.Output > 1 && !f.first.IsZero() {
			s.ITL.Add(now.Sub(f.first) / time.Duration(u.Output-1))
		}
	}
	f.m.window(f.row.Worker).Add(now, count)
	f.s.recent.Add(now, count)
	f.s.history.Add(now, count)
}

// keep remembers the raw turn, so that the next prompt holds it as it was
// made, and returns the rolling hash after it. An answer cut at a client's
// stop string is not what its ids say, so it is not kept.
func (f *flight) keep(an *analysis, ids []uint32) uint64 {
	answer := an.answer.Message()
	after := prompt.Next(f.history(), answer)
	if f.row.Chat == "" && an.reason != turn.Stopped && an.reason != turn.Aborted && f.t.Dialect != turn.Completions && (an.reason == turn.Ended || an.reason == turn.Called || f.whole(answer, ids)) {
		f.m.raw.Put(f.history(), f.raw(after, answer, ids))
	}
	return after
}

// outcome says in a word how the flight ended, and why when badly.
func (f *flight) outcome(an *analysis, err error) (word, why string) {
	switch {
	case err == nil && an != nil:
		return string(an.reason), ""
	case f.left.Load() || errors.Is(err, errLeft):
		return "cancel", ""
	case err == nil:
		return "fail", "the answer never began"
	case f.row.Moved > 0: // it had begun
		return "fail", err.Error()
	}
	var refused *turn.Refused
	var problem *dialect.Problem // found while it was placed: fits no worker
	if errors.As(err, &problem) && problem.StatusFor(f.t.Dialect) < 500 || errors.As(err, &refused) || errors.Is(err, errNoWorker) || errors.Is(err, turn.ErrBusy) {
		return "reject", err.Error()
	}
	return "fail", err.Error()
}

// usage is what the client is told: of a flight that moved, the prompt as it
// was asked and the whole answer.
func (f *flight) usage(u turn.Usage) turn.Usage {
	if f.row.Moved > 0 && f.row.Chat == "" {
		u.Output += u.Prompt - f.asked
		u.Prompt, u.Cached = f.asked, min(u.Cached, f.asked)
	}
	if u.Prompt == 0 { // the engine tells no usage
		u.Prompt, u.Output = f.asked, len(f.said)
	}
	return u
}

// predicted is the overlap as decided so far.
func (f *flight) predicted() int {
	if f.step.Load() == waits {
		return 0
	}
	return int(f.overlap.Load())
}

// formatName is a format as the ledger knows it.
func formatName(f turn.Format) string {
	return [...]string{turn.FreeText: "", turn.JSONObject: "json_object", turn.JSONSchema: "json_schema"}[f.Kind]
}

func className(c turn.Class) string { return [...]string{"P0", "P1", "P2"}[c] }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ratio is a/b, or -1 when b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return -1
	}
	return float64(a) / float64(b)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
