package trtllm

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/prompt/bpe"
	"github.com/agentinfer/dyn/turn"
)

// client talks to one server.
type client struct {
	server   *remote.Server
	theirs   bool                   // others launched it
	promised bool                   // its recipe says that it sees images
	dir      string                 // model folder; "" is not known
	manner   atomic.Pointer[manner] // nil before the probe
	open     atomic.Int64           // answers that run
	tells    atomic.Bool            // the server has told of its cache

	reading sync.Mutex // held while events are read, which keeps them in order
	answers [][]byte   // of the server's events, oldest first; guarded by reading
}

// manner is what the probe found out about how to ask.
type manner struct {
	model    string
	tok      *bpe.Tokenizer // nil: the server makes the text
	priority bool           // it knows the field
	shares   bool           // it finds a prefix again, whoever sent it
	form     spelling
	block    int // tokens per block; 0 is not known
}

func newClient(at engine.Endpoint) *client {
	return &client{server: remote.New(at), theirs: at.Args == nil, promised: at.Vision, dir: at.ModelDir}
}

// Close drops idle connections.
func (c *client) Close() { c.server.Close() }

// Health asks /health, which says no more than that the process lives.
func (c *client) Health(ctx context.Context) error {
	status, err := c.server.Status(ctx, "/health")
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("health: status %d: %w", status, turn.ErrLost)
	}
	return nil
}

// Generate starts an answer. It blocks until the server has taken the request.
func (c *client) Generate(ctx context.Context, j turn.Job) (turn.Stream, error) {
	m := c.manner.Load()
	switch {
	case m == nil:
		return nil, fmt.Errorf("it was not probed yet: %w: %w", turn.ErrUnsent, turn.ErrLost)
	case j.Chat != nil:
		s, err := c.chat(ctx, j, *m)
		if err != nil {
			return nil, tooLong(err, 0)
		}
		return s, nil
	case j.Format.Kind != turn.FreeText && m.form == unheld:
		return nil, &turn.Refused{Status: http.StatusBadRequest, Message: "this engine does not hold answers to a form"}
	case j.Salt != "" && m.shares:
		return nil, &turn.Refused{Status: http.StatusBadRequest, Message: "this engine shares prefixes between all its users: " +
			"a turn with a salt (cache_salt, x-tenant-id, or an API key's own) cannot be kept apart there; " +
			"it takes such turns when it is started without reuse (config.kv_cache_config.enable_block_reuse: off)"}
	}
	s, err := c.send(ctx, *m, j, nil)
	if err != nil {
		return nil, tooLong(err, j.Prompt.Len())
	}
	return s, nil
}

// send posts a request. prompt writes what stands in place of the job's ids;
// nil is those.
func (c *client) send(ctx context.Context, m manner, j turn.Job, prompt func(*remote.Body)) (*stream, error) {
	a, err := c.server.Answer(ctx, "/v1/completions", "", body(m, j, prompt)...)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return newStream(ctx, c, a, m, j), nil
}

// How the server's words tell what it takes, which is the context or what it
// computes at once, and how long a prompt is.
var (
	limits  = regexp.MustCompile("(?:max_seq_len`?|max_num_tokens|context length) \\((\\d+)")
	lengths = regexp.MustCompile("(?:splited_prompt_len`?|prompt length|prompt_token_ids` length|input) \\((\\d+)")
)

// tooLong adds to a refusal that the prompt does not fit, if its words say so.
// A prompt of 0 tokens is one of which only the server knows how many it has.
func tooLong(err error, prompt int) error {
	words := err.Error()
	if prompt == 0 {
		prompt = number(lengths, words)
	}
	return remote.TooLong(err, prompt, number(limits, words))
}

// number is what a pattern finds; 0 when it is not there.
func number(r *regexp.Regexp, words string) (n int) {
	if m := r.FindStringSubmatch(words); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	return n
}
