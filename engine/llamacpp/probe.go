package llamacpp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// probePrompt is short, and every vocabulary has it.
var probePrompt = turn.IDsOf(1, 2, 3, 4)

// Probe takes one token and looks at what the server tells about itself. What
// the mirror knew is forgotten, since another life of the server may answer
// now.
func (c *client) Probe(ctx context.Context) (engine.Seen, error) {
	var seen engine.Seen
	if err := c.Health(ctx); err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	b, err := c.http.Get(ctx, "/props")
	if err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	props := gjson.ParseBytes(b)
	slots := remote.Count(props.Get("total_slots"))
	if slots <= 0 || slots > maxSlots {
		return seen, fmt.Errorf("probe: /props tells %d slots, this is no llama-server: %w", slots, turn.ErrLost)
	}
	r := readRules(c.args)
	r.context = min(remote.Count(props.Get("default_generation_settings.n_ctx")), math.MaxInt32)
	seen.Caps = turn.Capabilities{
		Model: model(props), Context: r.context, BlockSize: blockTokens, KVTokens: r.context * slots, MaxSeqs: slots,
		Events: true, Engine: strings.TrimSpace("llama.cpp " + props.Get("build_info").Str),
	}
	visible(props, &seen.Caps)
	if r.sweeping {
		seen.Caps.KVTokens = r.context
	}
	m := newMirror(slots, r)
	known, traces := recall(c.notes, c.used(ctx))
	m.salts = known
	m.follow(traces)
	c.start(m)
	if err := c.firstToken(ctx, &seen.Caps); err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	c.extras(ctx, &seen.Caps)
	c.weigh(ctx, m)
	return seen, context.Cause(ctx)
}

// maxSlots bounds what a mirror is made for.
const maxSlots = 4096

// model is the name that the server gives its model.
func model(props gjson.Result) string {
	if name := props.Get("model_alias").Str; name != "" {
		return name
	}
	path := props.Get("model_path").Str
	return path[strings.LastIndexByte(path, '/')+1:]
}

// used reports whether a slot has had a turn before. A server that does not
// show its slots may have had any.
func (c *client) used(ctx context.Context) bool {
	b, err := c.http.Get(ctx, "/slots")
	if err != nil {
		return true
	}
	used := false
	gjson.ParseBytes(b).ForEach(func(_, s gjson.Result) bool {
		used = s.Get("id_task").Exists() && s.Get("id_task").Int() >= 0
		return !used
	})
	return used
}

// start makes m the client's mirror. Turns may run at a server that is probed
// again, so that none of their salts is forgotten.
func (c *client) start(m *mirror) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mirror != nil {
		m.salts = m.salts.and(c.mirror.salts)
		if c.mirror.report.listens {
			m.report.listen(nil)
		}
	}
	c.mirror = m
	c.changed()
}

// The first token may take minutes, since a server warms up for it; what
// follows it may not. An answer that goes on for so many tokens more than were
// asked for, or has no end so long after its first, has none.
const (
	endlessTokens = 16
	endlessWait   = 5 * time.Second
)

// firstToken runs a turn of one token and notes what its answer held.
func (c *client) firstToken(ctx context.Context, caps *turn.Capabilities) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	zero := 0.0
	s, err := c.generate(ctx, turn.Job{
		ID: "dyn-probe", Prompt: probePrompt, MaxTokens: 1, Sampling: turn.Sampling{Temperature: &zero},
	}, &claim{prompt: probePrompt, probe: true})
	if err != nil {
		return err
	}
	defer s.Close()
	for late := (*time.Timer)(nil); ; {
		d, err := s.Next()
		switch {
		case errors.Is(err, io.EOF), err == nil && d.End != nil:
			caps.TokenIDs, caps.Cached = len(s.made.ids) > 0, s.told
			return nil
		case err != nil && errors.Is(context.Cause(ctx), engine.ErrEndless):
			return context.Cause(ctx)
		case err != nil:
			return err
		case s.made.count > 1+endlessTokens:
			return fmt.Errorf("%w: %d tokens came where one was asked for", engine.ErrEndless, s.made.count)
		}
		if late == nil {
			late = time.AfterFunc(endlessWait, func() {
				cancel(fmt.Errorf("%w: one token was asked for, and no end came in %v after it", engine.ErrEndless, endlessWait))
			})
			defer late.Stop()
		}
	}
}

// extraLimit is how long the look at what a server may also do can take.
const extraLimit = 30 * time.Second

// formSchema allows one text only, which no model says by itself.
var formSchema = json.RawMessage(`{"enum":["dyn form"]}`)

// extras finds out whether answers are held to a form, and whether log
// probabilities are told. A server that refuses does neither.
func (c *client) extras(ctx context.Context, caps *turn.Capabilities) {
	ctx, cancel := context.WithTimeout(ctx, extraLimit)
	defer cancel()
	zero, text := 0.0, ""
	s, err := c.generate(ctx, turn.Job{
		ID: "dyn-probe-extra", Prompt: probePrompt, MaxTokens: 4,
		Sampling: turn.Sampling{Temperature: &zero, Logprobs: true},
		Format:   turn.Format{Kind: turn.JSONSchema, Schema: formSchema},
	}, &claim{prompt: probePrompt, probe: true})
	if err != nil {
		return
	}
	defer s.Close()
	for {
		d, err := s.Next()
		if err != nil {
			break
		}
		text += d.Text
		caps.Logprobs = caps.Logprobs || len(d.Logprobs) > 0
		if d.End != nil || s.made.count > 4+endlessTokens || len(text) > 64<<10 {
			break
		}
	}
	text = strings.TrimLeft(text, " \t\r\n")
	caps.Formats = len(text) > 1 && strings.HasPrefix(`"dyn form"`, text)
	c.formed.Store(caps.Formats)
}

// weigh measures what a saved token costs, by saving the slot that the probe
// ran in. Only a server of ours has a folder for it that nobody else uses.
func (c *client) weigh(ctx context.Context, m *mirror) {
	if c.notes == "" {
		return
	}
	c.mu.Lock()
	slot := m.newest()
	c.mu.Unlock()
	b, err := c.http.Post(ctx, fmt.Sprintf("/slots/%d?action=save", slot), []byte(`{"filename":"dyn-probe.bin"}`))
	if err != nil {
		return // the usual weight stays
	}
	tokens, bytes := remote.Count(gjson.GetBytes(b, "n_saved")), remote.Count(gjson.GetBytes(b, "n_written"))
	if tokens == 0 || bytes < tokens {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m.rules.perToken = int64(bytes / tokens)
}
