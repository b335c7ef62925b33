package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// demand is what a turn needs of a worker that not every worker can. The
// zero value is met by all.
type demand struct {
	worker   string // the one it is pinned to
	format   turn.Format
	logprobs bool
	images   int  // that its worker must see
	chat     bool // its worker must have a chat API
}

// meets reports whether a worker meets the demand, whatever its state.
func (d demand) meets(name string, caps turn.Capabilities) bool {
	return (d.worker == "" || d.worker == name) &&
		(d.format.Kind == turn.FreeText || caps.Formats) &&
		(!d.logprobs || caps.Logprobs) &&
		(d.images == 0 || caps.Vision && caps.Chat) &&
		(!d.chat || caps.Chat)
}

// How many answers one request may ask for: to one prompt, and in all.
const (
	choicesMost = 16
	answersMost = 256
)

// several refuses a turn that asks for more answers than that.
func several(t *turn.Turn) error {
	param := "n"
	if t.Best > 0 {
		param = "best_of"
	}
	switch {
	case t.N > choicesMost:
		return &dialect.Problem{Param: param, Message: fmt.Sprintf("at most %d answers at once, not %d", choicesMost, t.N)}
	case t.Answers() > answersMost:
		return &dialect.Problem{Param: "prompt", Message: fmt.Sprintf("%d prompts ask for %d answers; at most %d in one request", len(t.Prompts), t.Answers(), answersMost)}
	}
	return nil
}

// demands reads what a turn needs, and refuses what no worker of the model
// could give. Rules of formats:
//
//   - A worker that enforces formats gets the turn, and the model does not
//     think: a grammar would hold its thoughts too.
//   - While the model may call tools a format is not enforced, since a grammar
//     leaves no room for a call; the model is told of it instead (Codex sends
//     its output schema with every turn of an agent at work).
//   - Where no worker enforces them, messages turns are told of it too, since
//     Claude Code sends its titles so and lives with any JSON; the OpenAI
//     dialects promise the form, so they get a 400.
//
// A turn that is only told gets the warning header.
func (s *Server) demands(c *call, t *turn.Turn, m *model) (demand, error) {
	d := demand{worker: t.Hints.Worker, logprobs: t.Sampling.Logprobs || t.Best > 0, chat: m.Stands != ""}
	if err := several(t); err != nil {
		return d, err
	}
	if d.worker != "" && !slices.Contains(m.names(), d.worker) {
		names := m.names()
		return d, &dialect.Problem{Param: "worker", Message: "no worker of " + m.ID + " is named " + clip(d.worker) + "; there are " + strings.Join(names, ", ")}
	}
	if d.chat && t.Dialect == turn.Completions {
		return d, m.exact("a plain completion")
	}
	if d.chat && !m.able(demand{chat: true}) {
		return d, &dialect.Problem{Kind: dialect.Unavailable, Message: "no worker of " + m.ID + " has a chat API, and by token ids it cannot be served: " + m.Stands}
	}
	if d.logprobs && !m.able(d) {
		return d, &dialect.Problem{Param: logprobsParam(t), Message: "no worker of " + m.ID + " tells log probabilities"}
	}
	if t.Repeat && t.Sampling.Logprobs {
		c.warn("the log probabilities of the prompt's own tokens are not told: they are null")
	}
	if !m.Parser.Calls() && m.Stands == "" && len(t.Tools) > 0 && t.ToolChoice.Mode != "none" {
		why := "no call of a tool can come: dyn knows none that " + m.ID + " makes, and its template may not show it the tools"
		if mode := t.ToolChoice.Mode; mode == "required" || mode == "named" { // agents name tools with every turn, and live with text
			return d, &dialect.Problem{Param: "tool_choice", Message: why}
		}
		c.warn(why)
	}
	if t.Format.Kind == turn.FreeText {
		return d, nil
	}
	told := cmp.Or(t.ToolChoice.Mode, "auto") != "none" && len(t.Tools) > 0
	if d.format = t.Format; !told && m.able(d) {
		t.Thinking = turn.Thinking{Mode: "off"}
		return d, nil
	}
	d.format = turn.Format{}
	switch {
	case told:
		c.warn("the format is told to the model, not enforced: it would leave no room for tool calls")
	case t.Dialect == turn.Messages:
		c.warn("the format is told to the model, not enforced: no worker of " + m.ID + " can")
	default:
		return d, &dialect.Problem{Param: formatParam(t.Dialect), Message: "no worker of " + m.ID + " can hold an answer to a format; leave it out or ask for it in the prompt"}
	}
	tell(t)
	return d, nil
}

func formatParam(d turn.Dialect) string {
	if d == turn.Responses {
		return "text.format"
	}
	return "response_format"
}

func logprobsParam(t *turn.Turn) string {
	switch {
	case t.Dialect == turn.Responses:
		return "include"
	case t.Best > 0 && !t.Sampling.Logprobs:
		return "best_of"
	}
	return "logprobs"
}

// tell asks the model for the format. It stands at the end of the system
// prompt, where it does not move from turn to turn.
func tell(t *turn.Turn) {
	text := "Answer with one JSON object and nothing else: no prose around it, no code fence."
	if len(t.Format.Schema) > 0 {
		text += " It must follow this JSON schema:\n" + string(t.Format.Schema)
	}
	if len(t.Tools) > 0 {
		text = "When you have no more tools to call: " + text
	}
	b := turn.Block{Kind: turn.Text, Text: text}
	at := 0
	for at < len(t.Messages) && t.Messages[at].Role == turn.System {
		at++
	}
	if at == 0 {
		t.Messages = slices.Insert(slices.Clone(t.Messages), 0, turn.Message{Role: turn.System, Blocks: []turn.Block{b}})
		return
	}
	t.Messages = slices.Clone(t.Messages)
	last := &t.Messages[at-1]
	last.Blocks = append(slices.Clone(last.Blocks), b) // the blocks may be shared with other turns
}

// names are the model's workers, in order.
func (m *model) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([]string, 0, len(m.members))
	for name := range m.members {
		names = append(names, name)
	}
	slices.SortFunc(names, natural)
	return names
}

// able reports whether some worker meets the demand, now or when it is ready
// again.
func (m *model) able(d demand) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, b := range m.members {
		if d.meets(name, b.info.Caps) {
			return true
		}
	}
	return false
}

// needs makes the flight's job ask for what the turn demands.
func (f *flight) needs(d demand) {
	f.demand, f.caller = d, f.calls()
	f.job.Format = d.format
	f.hold()
	if s := &f.job.Sampling; s.IgnoreEnd {
		f.job.StopIDs = s.StopIDs
	} else if len(s.StopIDs) > 0 {
		f.job.StopIDs = append(slices.Clip(f.job.StopIDs), s.StopIDs...)
	}
}
