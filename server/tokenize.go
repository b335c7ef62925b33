package server

import (
	"encoding/json"
	"fmt"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// countTokens answers how long the prompt of a messages request is.
func (s *Server) countTokens(c *call) error {
	n, err := s.counted(c, func(body []byte) (*turn.Turn, error) { return dialect.DecodeCount(body, c.header) })
	if err != nil {
		return err
	}
	return reply(c.RequestCtx, countAnswer{n})
}

// countInput answers how long the prompt of a responses request is.
func (s *Server) countInput(c *call) error {
	n, err := s.counted(c, func(body []byte) (*turn.Turn, error) {
		whole, err := s.resume(c, body)
		if err != nil {
			return nil, err
		}
		return dialect.DecodeInput(whole, c.header)
	})
	if err != nil {
		return err
	}
	return reply(c.RequestCtx, inputAnswer{"response.input_tokens", n})
}

type countAnswer struct {
	Tokens int `json:"input_tokens"`
}

type inputAnswer struct {
	Object string `json:"object"`
	Tokens int    `json:"input_tokens"`
}

// counted makes the prompt of a request without a worker and returns its
// length.
func (s *Server) counted(c *call, decode func([]byte) (*turn.Turn, error)) (int, error) {
	body, err := s.body(c.RequestCtx)
	if err != nil {
		return 0, err
	}
	t, err := decode(body)
	if err != nil {
		return 0, err
	}
	ids, _, err := s.ids(c, t)
	return len(ids), err
}

// ids makes a turn's prompt as a worker would get it, answers of the model
// put back as they were made.
func (s *Server) ids(c *call, t *turn.Turn) ([]uint32, *model, error) {
	m, err := s.known(t.Model)
	if err != nil {
		return nil, nil, err
	}
	t.Tenant, t.Salt = c.tenant(), c.who.Salt(t.Salt)
	prompt.Steady(t)
	p, err := m.Prompt.Build(&prompt.State{}, t, nil, m.raw)
	if err != nil {
		return nil, nil, &dialect.Problem{Kind: dialect.Invalid, Message: err.Error()}
	}
	return p.IDs, m, nil
}

// tokenizeAsk is a body of /tokenize: a prompt, or what chat completions
// take.
type tokenizeAsk struct {
	Model    string          `json:"model"`
	Prompt   *string         `json:"prompt,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
	Strings  bool            `json:"return_token_strs,omitempty"`
}

type tokenizeAnswer struct {
	Count   int       `json:"count"`
	Context int       `json:"max_model_len"`
	Tokens  []uint32  `json:"tokens"`
	Strings *[]string `json:"token_strs"`
}

// tokenize answers a prompt's ids, in vLLM's form.
func (s *Server) tokenize(c *call) error {
	var ask tokenizeAsk
	body, err := s.object(c, &ask)
	if err != nil {
		return err
	}
	var ids []uint32
	var m *model
	switch {
	case ask.Prompt != nil:
		if m, err = s.known(ask.Model); err != nil {
			return err
		}
		ids = m.Prompt.Tokenizer().Encode([]uint32{}, *ask.Prompt)
	case len(ask.Messages) > 0:
		t, err := dialect.For(turn.Chat).Decode(body, c.header, nil)
		if err != nil {
			return err
		}
		if ids, m, err = s.ids(c, t); err != nil {
			return err
		}
	default:
		return &dialect.Problem{Param: "prompt", Message: "prompt or messages must be given"}
	}
	a := tokenizeAnswer{Count: len(ids), Context: m.known(), Tokens: ids}
	if ask.Strings {
		texts := make([]string, len(ids))
		for i, id := range ids {
			texts[i] = m.Prompt.Tokenizer().Token(id)
		}
		a.Strings = &texts
	}
	return reply(c.RequestCtx, a)
}

type detokenizeAsk struct {
	Model  string   `json:"model"`
	Tokens []uint32 `json:"tokens"`
}

type detokenizeAnswer struct {
	Prompt string `json:"prompt"`
}

// detokenize answers the text of ids, in vLLM's form.
func (s *Server) detokenize(c *call) error {
	var ask detokenizeAsk
	if _, err := s.object(c, &ask); err != nil {
		return err
	}
	m, err := s.known(ask.Model)
	if err != nil {
		return err
	}
	for i, id := range ask.Tokens {
		if int(id) >= m.Prompt.Vocab() {
			return &dialect.Problem{Param: fmt.Sprintf("tokens[%d]", i), Message: fmt.Sprintf("is no token of this model: ids go up to %d", m.Prompt.Vocab()-1)}
		}
	}
	return reply(c.RequestCtx, detokenizeAnswer{string(m.Prompt.Tokenizer().Decode(nil, ask.Tokens))})
}

// object reads a body that is one JSON object into v.
func (s *Server) object(c *call, v any) ([]byte, error) {
	body, err := s.body(c.RequestCtx)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return nil, &dialect.Problem{Message: "invalid JSON: " + err.Error()}
	}
	return body, nil
}
