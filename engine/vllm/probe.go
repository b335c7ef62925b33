package vllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// probePrompt is short enough to fill no block, and every vocabulary has it.
var probePrompt = turn.IDsOf(1, 2, 3, 4)

// Probe takes one token and looks at what the server tells about itself.
func (c *client) Probe(ctx context.Context) (engine.Seen, error) {
	var seen engine.Seen
	models, err := c.read(ctx, "/v1/models")
	if err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	first := gjson.GetBytes(models, "data.0")
	seen.Caps.Model = first.Get("id").Str
	seen.Caps.Context = int(first.Get("max_model_len").Int())
	if seen.Caps.Model == "" {
		return seen, fmt.Errorf("probe: /v1/models names no model: %w", turn.ErrLost)
	}
	if err := c.firstToken(ctx, &seen.Caps); err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	if err := c.extras(ctx, &seen.Caps); err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	name := seen.Caps.Model
	c.model.Store(&name)
	c.most.Store(int64(seen.Caps.Context))
	c.chats(ctx, &seen.Caps)

	seen.Caps.Engine = "openai"
	if b, err := c.read(ctx, "/version"); err == nil {
		seen.Caps.Engine = strings.TrimSpace("vllm " + gjson.GetBytes(b, "version").Str)
	}
	if m, err := c.metrics(ctx); err == nil {
		seen.Caps.BlockSize, seen.Caps.KVTokens = m.blockSize, m.kvTokens
	}
	if b, err := c.read(ctx, "/kv_event_sources"); err == nil {
		rank := gjson.GetBytes(b, "0")
		seen.Events = c.reach(rank.Get("endpoint").Str)
		seen.Replay = c.reach(rank.Get("replay_endpoint").Str)
	}
	return seen, nil
}

// The first token may take minutes, since a server compiles and warms up for
// it; what follows it may not. An answer that goes on for so many tokens more
// than were asked for, or has no end so long after its first, has none.
const (
	endlessTokens = 16
	endlessWait   = 5 * time.Second
)

// firstToken runs a turn of one token and notes what its answer held.
func (c *client) firstToken(ctx context.Context, caps *turn.Capabilities) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	zero := 0.0
	s, err := c.generate(ctx, caps.Model, turn.Job{
		ID: "dyn-probe", Prompt: probePrompt, MaxTokens: 1, Sampling: turn.Sampling{Temperature: &zero},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	for late := (*time.Timer)(nil); ; {
		d, err := s.Next()
		switch {
		case errors.Is(err, io.EOF), err == nil && d.End != nil:
			caps.TokenIDs, caps.Cached = s.ids, s.told.cachedSet
			return nil
		case err != nil && errors.Is(context.Cause(ctx), engine.ErrEndless):
			return context.Cause(ctx)
		case err != nil:
			return err
		case s.output > 1+endlessTokens:
			return fmt.Errorf("%w: %d tokens came where one was asked for", engine.ErrEndless, s.output)
		}
		if late == nil {
			late = time.AfterFunc(endlessWait, func() {
				cancel(fmt.Errorf("%w: one token was asked for, and no end came in %v after it", engine.ErrEndless, endlessWait))
			})
			defer late.Stop()
		}
	}
}

// extraLimit is how long one look at what a server may also do can take: the
// first grammar is seconds of compiling.
const extraLimit = 30 * time.Second

// extras finds out how the server can be made to hold an answer to a form, and
// whether it tells log probabilities.
func (c *client) extras(ctx context.Context, caps *turn.Capabilities) error {
	held := unheld
	for as := structured; as <= responseFormat && held == unheld; as++ {
		one := turn.Format{Kind: turn.JSONSchema, Schema: formSchema}
		text, _, _ := c.extra(ctx, as.append(nil, one), caps.Model)
		if holds(text) {
			held = as
		}
	}
	c.form.Store(uint32(held))
	_, likely, err := c.extra(ctx, []byte(`,"logprobs":1000000`), caps.Model)
	caps.Formats, caps.Logprobs = held != unheld, likely || limitsLogprobs(err)
	return context.Cause(ctx)
}

// limitsLogprobs reports whether a server refused more log probabilities than
// there are tokens because of their number: then it can tell some. Asking for
// those would have some servers compile for 20 s, or die of a compiler that is
// not there; see the reference's live runs of vLLM 0.32 on a CPU.
func limitsLogprobs(err error) bool {
	var refused *turn.Refused
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, "logprobs") {
		return false
	}
	return slices.ContainsFunc([]string{"max", "greater", "less", "most", "between", "range", "exceed"}, func(word string) bool {
		return strings.Contains(refused.Message, word)
	})
}

// formSchema allows one text only, which no model says by itself.
var formSchema = json.RawMessage(`{"enum":["dyn form"]}`)

// formPrompt ends a thought, behind which a server with a reasoning parser
// holds answers to a form; see the reference's live runs of vLLM 0.32.
const formPrompt = `"<think>\n\n</think>\n\n"`

// holds reports whether an answer began as formSchema has it.
func holds(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return len(text) > 1 && strings.HasPrefix(`"dyn form"`, text)
}

// extra asks for a few tokens with more fields, and returns what was said and
// whether log probabilities came, and how it ended early. A server that does
// not take the fields says nothing.
func (c *client) extra(ctx context.Context, fields []byte, model string) (text string, likely bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, extraLimit)
	defer cancel()
	body := newParcel()
	defer body.release()
	b := appendString(append(body.b, `{"model":`...), model)
	b = append(append(b, `,"prompt":`+formPrompt+`,"max_tokens":8,"temperature":0,"stream":true`...), fields...)
	body.b = append(b, '}')
	body.pieces = append(body.pieces, body.b)
	s, err := c.send(ctx, body, turn.Job{ID: "dyn-probe-extra", MaxTokens: 8})
	if err != nil {
		return "", false, err
	}
	defer s.Close()
	for {
		d, err := s.Next()
		if err != nil {
			return text, likely, err
		}
		text, likely = text+d.Text, likely || len(d.Logprobs) > 0
		if d.End != nil || s.output > 8+endlessTokens {
			return text, likely, nil
		}
	}
}

// reach turns the address that a server reports for itself into one that we
// can dial: "*" and the like are the host where its HTTP is.
func (c *client) reach(addr string) string {
	rest, ok := strings.CutPrefix(addr, "tcp://")
	if !ok {
		return ""
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return ""
	}
	if host == "*" || host == "0.0.0.0" || host == "::" || host == "" {
		base, err := url.Parse(c.base)
		if err != nil {
			return ""
		}
		host = base.Hostname()
	}
	return "tcp://" + net.JoinHostPort(host, port)
}
