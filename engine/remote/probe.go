package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// The first token may take minutes, since a server compiles and warms up for
// it; what follows it may not. An answer that goes on for so many tokens more
// than were asked for, or for so much text, or has no end so long after its first, has none.
const (
	endlessTokens = 16
	endlessWait   = 5 * time.Second
	endlessText   = 64 << 10 // bytes, of an answer that tells no tokens
)

// ExtraLimit is how long one look at what a server may also do can take: the
// first grammar, and the first log probabilities, are seconds of compiling.
const ExtraLimit = 30 * time.Second

// Said is what an answer held.
type Said struct {
	Text   string
	IDs    int
	Likely bool // it told log probabilities
	Usage  turn.Usage
}

// Listen takes a probe's answer to its end and closes it. ask starts the
// answer; tokens is how many were asked for. An answer without an end is in
// the chain of engine.ErrEndless.
func Listen(ctx context.Context, tokens int, ask func(context.Context) (turn.Stream, error)) (said Said, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := ask(ctx)
	if err != nil {
		return said, err
	}
	defer s.Close()
	for late := (*time.Timer)(nil); ; {
		d, err := s.Next()
		said.Text, said.IDs = said.Text+d.Text, said.IDs+len(d.IDs)
		said.Likely = said.Likely || len(d.Logprobs) > 0
		switch {
		case err != nil && errors.Is(context.Cause(ctx), engine.ErrEndless):
			return said, context.Cause(ctx)
		case err != nil:
			return said, err
		case d.End != nil:
			said.Usage = d.End.Usage
			return said, nil
		case said.IDs > tokens+endlessTokens:
			return said, fmt.Errorf("%w: %d tokens came where %d were asked for", engine.ErrEndless, said.IDs, tokens)
		case len(said.Text) > endlessText:
			return said, fmt.Errorf("%w: over %d bytes came where %d tokens were asked for", engine.ErrEndless, endlessText, tokens)
		}
		if late == nil {
			late = time.AfterFunc(endlessWait, func() {
				cancel(fmt.Errorf("%w: no end came in %v after the first of %d tokens", engine.ErrEndless, endlessWait, tokens))
			})
			defer late.Stop()
		}
	}
}

// Form is a form that allows one text only, which no model says by itself. A
// server ignores the fields that it does not know, so that whether it holds
// answers to a form is only seen by what it says.
var Form = turn.Format{Kind: turn.JSONSchema, Schema: json.RawMessage(`{"enum":["dyn form"]}`)}

// FormPrompt ends a thought, behind which a server with a reasoning parser
// holds answers to a form; see the reference's live runs of vLLM 0.32.
const FormPrompt = "<think>\n\n</think>\n\n"

// Held reports whether an answer began as Form has it.
func Held(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return len(text) > 1 && strings.HasPrefix(`"dyn form"`, text)
}

// Reach turns the address that a server reports for itself into one that we
// can dial: "*" and the like are the host where its HTTP is. An address of any
// other host is one to which the server connects; that, and what is no TCP
// address, is "".
func (s *Server) Reach(host, port string) string {
	switch host {
	case "*", "0.0.0.0", "::", "[::]", "":
	default:
		return ""
	}
	if port == "" || port == "0" {
		return ""
	}
	u, err := url.Parse(s.base)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return "tcp://" + net.JoinHostPort(u.Hostname(), port)
}
