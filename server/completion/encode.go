package completion

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// answer is a chunk or a document.
type answer struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage,omitempty"`
	Extra   json.RawMessage `json:"nvext,omitempty"`
}

type choice struct {
	Index  int     `json:"index"`
	Text   string  `json:"text"`
	Probs  *probs  `json:"logprobs"`
	Finish *string `json:"finish_reason"`
}

// probs is the API's own form of log probabilities.
type probs struct {
	Tokens []string             `json:"tokens"`
	Values []*float64           `json:"token_logprobs"` // null is unknown
	Top    []map[string]float64 `json:"top_logprobs"`
	Offset []int                `json:"text_offset"`
}

type usage struct {
	Prompt  int     `json:"prompt_tokens"`
	Output  int     `json:"completion_tokens"`
	Total   int     `json:"total_tokens"`
	Details details `json:"prompt_tokens_details"`
}

type details struct {
	Cached int `json:"cached_tokens"`
}

// add counts an answer, and its prompt where it is the first to that.
func (u *usage) add(v turn.Usage, first bool) {
	if first {
		u.Prompt += v.Prompt
		u.Details.Cached += v.Cached
	}
	u.Output += v.Output
	u.Total = u.Prompt + u.Output
}

// head is what all chunks of an answer begin with.
func head(t *turn.Turn) answer {
	return answer{ID: "cmpl-" + t.ID, Object: "text_completion", Created: t.Arrived.Unix(), Model: t.Model}
}

func finish(e turn.Event) *string {
	word := "stop"
	if e.Reason == turn.Cut {
		word = "length"
	}
	return &word
}

// likely writes log probabilities; at is where their text begins in the
// answer.
func likely(ps []turn.Logprob, at int) *probs {
	if len(ps) == 0 {
		return nil
	}
	p := &probs{}
	for _, l := range ps {
		p.Tokens, p.Offset = append(p.Tokens, l.Token), append(p.Offset, at)
		at += utf8.RuneCountInString(l.Token)
		if math.IsNaN(l.Value) {
			p.Values, p.Top = append(p.Values, nil), append(p.Top, nil)
			continue
		}
		top := map[string]float64{}
		for _, alt := range l.Top {
			top[alt.Token] = alt.Value
		}
		p.Values, p.Top = append(p.Values, &l.Value), append(p.Top, top)
	}
	return p
}

// Stream returns the encoder of one answer.
func (Codec) Stream(t *turn.Turn) dialect.Encoder {
	return &encoder{head: head(t), usage: t.IncludeUsage, left: t.Answers(), each: max(t.N, 1), sent: map[int]int{}}
}

// encoder writes chunks.
type encoder struct {
	head  answer
	usage bool
	left  int         // answers that have not ended
	each  int         // answers to one prompt
	sent  map[int]int // characters of text sent, by answer
	total usage
	ended bool
}

func (e *encoder) Mark(int) {}

// Open writes nothing: the first chunk comes with the first text.
func (e *encoder) Open(dst []byte, _ turn.Usage) []byte { return dst }

// Ping writes a chunk without text: comments do not count with clients that
// wait for parsed events.
func (e *encoder) Ping(dst []byte) []byte {
	if e.ended {
		return dst
	}
	return e.chunk(dst, choice{})
}

func (e *encoder) chunk(dst []byte, c choice) []byte {
	a := e.head
	a.Choices = []choice{c}
	return event(dst, a)
}

func event(dst []byte, a answer) []byte {
	b, _ := json.Marshal(a) // plain values can always be written
	return append(append(append(dst, "data: "...), b...), "\n\n"...)
}

func (e *encoder) Event(dst []byte, ev turn.Event) []byte {
	if e.ended {
		return dst
	}
	c := choice{Index: ev.Choice, Text: ev.Text, Probs: likely(ev.Logprobs, e.sent[ev.Choice])}
	switch ev.Kind {
	case turn.Says, turn.Reasoning:
		e.sent[ev.Choice] += utf8.RuneCountInString(ev.Text)
		return e.chunk(dst, c)
	case turn.Finish:
		if dialect.Ended(ev) == nil {
			return e.finish(dst, c, ev)
		}
		fallthrough
	case turn.Fail:
		e.ended = true
		dst = append(append(dst, "data: "...), Codec{}.Problem(dialect.Ended(ev), "")...)
		return append(dst, "\n\ndata: [DONE]\n\n"...)
	}
	return dst
}

// finish writes the last chunk of an answer, and after the last answer the
// usage where it was asked for, and the mark of the end.
func (e *encoder) finish(dst []byte, c choice, ev turn.Event) []byte {
	e.total.add(ev.Usage, ev.Choice%e.each == 0)
	c.Finish, c.Text = finish(ev), ""
	a := e.head
	a.Choices, a.Extra = []choice{c}, ev.Extra
	dst = event(dst, a)
	if e.left--; e.left > 0 {
		return dst
	}
	e.ended = true
	if e.usage {
		a = e.head
		a.Choices, a.Usage = []choice{}, &e.total
		dst = event(dst, a)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// Document returns the collector of one answer.
func (Codec) Document(t *turn.Turn) dialect.Document {
	n := t.Answers()
	d := &document{head: head(t), texts: make([]strings.Builder, n), probs: make([][]turn.Logprob, n), ends: make([]*turn.Event, n), left: n, each: max(t.N, 1)}
	d.best, d.tell = t.Best, t.Sampling.Logprobs
	return d
}

// document collects the answers.
type document struct {
	head  answer
	texts []strings.Builder
	probs [][]turn.Logprob
	ends  []*turn.Event
	left  int
	each  int  // answers to one prompt
	best  int  // of them, how many are told; 0 is all
	tell  bool // log probabilities too
	fail  *dialect.Problem
}

func (d *document) Mark(int) {}

func (d *document) Add(e turn.Event) {
	if d.fail != nil || d.ends[e.Choice] != nil {
		return
	}
	d.probs[e.Choice] = append(d.probs[e.Choice], e.Logprobs...)
	switch e.Kind {
	case turn.Says, turn.Reasoning:
		d.texts[e.Choice].WriteString(e.Text)
	case turn.Finish, turn.Fail:
		d.fail = dialect.Ended(e)
		d.ends[e.Choice] = &e
		d.left--
	}
}

func (d *document) JSON() (int, []byte) {
	if d.fail == nil && d.left > 0 {
		d.fail = &dialect.Problem{Kind: dialect.Internal, Message: "the answer has no end"}
	}
	if d.fail != nil {
		return d.fail.StatusFor(turn.Completions), Codec{}.Problem(d.fail, "")
	}
	a := d.head
	a.Usage, a.Extra = &usage{}, d.ends[0].Extra
	for i, e := range d.ends {
		a.Usage.add(e.Usage, i%d.each == 0)
	}
	for from := 0; from < len(d.ends); from += d.each {
		for _, i := range d.told(from) {
			c := choice{Index: len(a.Choices), Text: d.texts[i].String(), Finish: finish(*d.ends[i])}
			if d.tell {
				c.Probs = likely(d.probs[i], 0)
			}
			a.Choices = append(a.Choices, c)
		}
	}
	b, _ := json.Marshal(a) // plain values can always be written
	return 200, b
}

// told are the answers to one prompt that the client gets, the first of which
// is given: all as they come, or the best of them, the best first.
func (d *document) told(from int) []int {
	list := make([]int, d.each)
	for i := range list {
		list[i] = from + i
	}
	if d.best == 0 {
		return list
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(mean(d.probs[b]), mean(d.probs[a])) })
	return list[:d.best]
}

// mean is the log probability per token, of those that have one.
func mean(ps []turn.Logprob) float64 {
	sum, n := 0.0, 0
	for _, p := range ps {
		if !math.IsNaN(p.Value) {
			sum, n = sum+p.Value, n+1
		}
	}
	return sum / float64(max(n, 1))
}
