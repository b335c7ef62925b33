package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/completion"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// What Dynamo's KvRouter tells a program in its own process (best_worker,
// get_potential_loads) is told here over HTTP, to harnesses that route
// themselves: they pin the turn to a worker afterwards. A key hears of its own
// turns alone: its salt finds its own prefixes, and loads are those of its own
// turns. Asking books a turn where it has an id, see booked.go.

// routeAsk is a body of /v1/route/…: a prompt as ids or text, or the fields of
// a chat completion. The names are those of KvRouter's arguments.
type routeAsk struct {
	Model    string          `json:"model"`
	Tokens   json.RawMessage `json:"token_ids"`
	Prompt   json.RawMessage `json:"prompt"`
	Messages json.RawMessage `json:"messages"`
	Strict   int             `json:"strict_priority"`
	Request  string          `json:"request_id"`
	Update   bool            `json:"update_indexer"`
}

// bestAnswer is where a turn would go. Rank is always 0: workers choose among
// their own ranks.
type bestAnswer struct {
	Worker     string          `json:"worker_id"`
	Rank       int             `json:"dp_rank"`
	Blocks     int             `json:"overlap_blocks"`
	Tokens     int             `json:"overlap_tokens"`
	Block      int             `json:"block_size"` // 0: it has no index
	Prompt     int             `json:"prompt_tokens"`
	Strategy   string          `json:"strategy"`
	Reason     route.Reason    `json:"reason"`
	Waits      bool            `json:"waits"` // all are full: it would wait first
	Booked     bool            `json:"booked"`
	BookedS    float64         `json:"booked_s,omitempty"` // how long, unless it is freed
	Warning    string          `json:"warning,omitempty"`
	Candidates []bestCandidate `json:"candidates"`
}

// bestCandidate is what one worker would have to do for it.
type bestCandidate struct {
	Worker string `json:"worker_id"`
	Tokens int    `json:"overlap_tokens"`
	New    int    `json:"new_tokens"`
	Out    string `json:"left_out,omitempty"`
}

// bestWorker answers where a turn would go now.
func (s *Server) bestWorker(c *call) error {
	f, ask, err := s.wonders(c)
	if err != nil {
		return err
	}
	booked := false
	d, waits, err := f.ask(func(n *route.Need, cs []route.Candidate, d route.Decision) error {
		switch {
		case ask.Request == "" && !ask.Update:
			return nil
		case ask.Request != "" && f.m.crowded(bookKey{c.tenant(), ask.Request}):
			return &dialect.Problem{Kind: dialect.Limited, Message: strconv.Itoa(mostBooked) + " turns of this key are booked; POST /v1/route/free ends a booking"}
		}
		booked = f.reserve(c, ask, n, cs, d)
		return nil
	})
	if err != nil {
		return err
	}
	a := bestAnswer{
		Worker: d.Worker, Tokens: d.Overlap, Prompt: f.asked, Strategy: d.Strategy, Reason: d.Reason, Waits: waits, Warning: d.Warning,
		Block: f.m.blockOf(d.Worker), Candidates: []bestCandidate{},
	}
	if a.Booked = booked; booked {
		a.BookedS = bookedFor.Seconds()
	}
	if a.Block > 0 {
		a.Blocks = a.Tokens / a.Block
	}
	for _, p := range d.Parts {
		a.Candidates = append(a.Candidates, bestCandidate{p.Worker, p.Overlap, p.New, p.Out})
	}
	return reply(c.RequestCtx, a)
}

// wonders makes a flight of a request that only asks.
func (s *Server) wonders(c *call) (*flight, *routeAsk, error) {
	var ask routeAsk
	body, err := s.object(c, &ask)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.asked(c, &ask, body)
	if err != nil {
		return nil, nil, err
	}
	f, err := s.prepare(c, t)
	return f, &ask, err
}

// asked is the turn that a request asks about.
func (s *Server) asked(c *call, ask *routeAsk, body []byte) (*turn.Turn, error) {
	m, err := s.only(c.model(ask.Model))
	if err != nil {
		return nil, err
	}
	body = withModel(body, m.ID)
	var codec dialect.Codec = completion.Codec{}
	switch {
	case given(ask.Messages):
		codec = dialect.For(turn.Chat)
	case given(ask.Tokens):
		body = withField(body, "prompt", ask.Tokens)
	case !given(ask.Prompt):
		return nil, &dialect.Problem{Param: "token_ids", Message: "token_ids, prompt or messages must be given"}
	}
	t, err := codec.Decode(body, c.header, nil)
	if err != nil {
		var p *dialect.Problem
		if errors.As(err, &p) && given(ask.Tokens) && codec.Dialect() == turn.Completions {
			p.Param = strings.Replace(p.Param, "prompt", "token_ids", 1) // as the client calls it
		}
		return nil, err
	}
	if given(ask.Tokens) && codec.Dialect() == turn.Completions && (len(t.Prompts) != 1 || t.Prompts[0].IDs == nil) {
		return nil, &dialect.Problem{Param: "token_ids", Message: "must be an array of token ids"}
	}
	t.Hints.Query, t.Hints.Strict = true, max(t.Hints.Strict, ask.Strict)
	t.Hints.Booking = "" // of a turn that comes
	if len(ask.Request) > mostRequestID {
		return nil, &dialect.Problem{Param: "request_id", Message: "is longer than " + strconv.Itoa(mostRequestID) + " bytes"}
	}
	return t, nil
}

// mostRequestID is how long the id of a booking may be.
const mostRequestID = 256

// model is the model that a request names: its body, else what stands behind the
// path's ?.
func (c *call) model(body string) string { return cmp.Or(body, string(c.QueryArgs().Peek("model"))) }

// given reports a field that is there and not null.
func given(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

// ask decides for a flight that does not fly. waits says that all workers that
// could take it are full; the decision is then the one that would be made if
// they had room. Where it has, then is called with it, the model's mutex held.
func (f *flight) ask(then func(*route.Need, []route.Candidate, route.Decision) error) (d route.Decision, waits bool, err error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	n := f.m.need(f)
	all := f.m.candidates(f, &n)
	if d = f.m.choose(f, &n, all); d.Wait() {
		waits = true
		for i := range all {
			all[i].InFlight, all[i].Pending = 0, 0
		}
		d = f.m.choose(f, &n, all)
	}
	switch {
	case d.Reason == route.TooLong:
		return d, waits, &dialect.Problem{Kind: dialect.TooLong, Prompt: f.job.Prompt.Len(), Limit: f.m.room()}
	case d.Reason == route.NoWorkers:
		return d, waits, errNoWorker
	case then != nil && !waits:
		return d, waits, then(&n, all, d)
	}
	return d, waits, nil
}

// blockOf is how many tokens a block of a worker's index has; 0 without one.
func (m *model) blockOf(worker string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.members[worker]; b != nil && b.index != nil {
		return b.index.Block()
	}
	return 0
}
