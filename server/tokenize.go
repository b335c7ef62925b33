package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

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
	body, err := s.document(c, nil)
	if err != nil {
		return 0, err
	}
	t, err := decode(body)
	if err != nil {
		return 0, err
	}
	m, err := s.known(t.Model)
	if err != nil {
		return 0, err
	}
	p, err := s.prompt(c, m, t)
	if m.Stands != "" {
		c.warn("the count is approximate, since dyn does not have this model's tokenizer or template: " + m.Stands)
	}
	return p.IDs.Len(), err
}

// prompt makes a turn's prompt as a worker would get it, answers of the model
// put back as they were made.
func (s *Server) prompt(c *call, m *model, t *turn.Turn) (prompt.Prompt, error) {
	t.Tenant, t.Salt = c.tenant(), c.who.Salt(t.Salt)
	prompt.Steady(t)
	p, err := m.Prompt.Build(&prompt.State{}, t, nil, m.raw)
	if err != nil {
		return p, &dialect.Problem{Kind: dialect.Invalid, Message: err.Error()}
	}
	return p, nil
}

// tokenizeAsk is a body of /tokenize: a prompt, or what chat completions
// take.
type tokenizeAsk struct {
	Model    string          `json:"model"`
	Prompt   *string         `json:"prompt"`
	Messages json.RawMessage `json:"messages"`
	Opening  *bool           `json:"add_generation_prompt"` // of messages: what opens the answer too; default true
	Special  *bool           `json:"add_special_tokens"`    // of a prompt: what the model's texts begin and end with too; default true
	Strings  bool            `json:"return_token_strs"`
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
	m, err := s.only(ask.Model)
	if err != nil {
		return err
	}
	if err := m.exact("/tokenize"); err != nil {
		return err
	}
	ids := []uint32{}
	switch {
	case ask.Prompt != nil && ask.Special != nil && !*ask.Special:
		ids = m.Prompt.Tokenizer().Encode(ids, *ask.Prompt)
	case ask.Prompt != nil:
		ids = m.Prompt.Tokenizer().EncodePrompt(ids, *ask.Prompt)
	case len(ask.Messages) > 0:
		t, err := dialect.For(turn.Chat).Decode(withModel(body, m.ID), c.header, nil)
		if err != nil {
			return err
		}
		p, err := s.prompt(c, m, t)
		if err != nil {
			return err
		}
		if ids = p.IDs.Flat(); ask.Opening != nil && !*ask.Opening {
			ids = ids[:len(ids)-len(p.Opening)]
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

// only returns a model by its name, or the one that there is when none is
// named.
func (s *Server) only(name string) (*model, error) {
	if name != "" {
		return s.known(name)
	}
	ms := s.all()
	if len(ms) == 1 {
		return ms[0], nil
	}
	return nil, &dialect.Problem{Param: "model", Message: fmt.Sprintf("field required: %d models are served", len(ms))}
}

// withModel names the model in an object that may name none.
func withModel(object []byte, model string) []byte {
	name, _ := json.Marshal(model) // a text can always be written
	return withField(object, "model", name)
}

// withField gives an object a field; of two of a name the last counts.
func withField(object []byte, name string, value []byte) []byte {
	end := bytes.LastIndexByte(object, '}')
	out := append(append(append(object[:end:end], `,"`...), name...), `":`...)
	return append(append(out, value...), '}')
}

type detokenizeAsk struct {
	Model  string    `json:"model"`
	Tokens *[]uint32 `json:"tokens"`
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
	m, err := s.only(ask.Model)
	if err != nil {
		return err
	}
	if err := m.exact("/detokenize"); err != nil {
		return err
	}
	if ask.Tokens == nil {
		return &dialect.Problem{Param: "tokens", Message: "field required"}
	}
	for i, id := range *ask.Tokens {
		if int(id) >= m.Prompt.Vocab() {
			return &dialect.Problem{Param: fmt.Sprintf("tokens[%d]", i), Message: fmt.Sprintf("is no token of this model: ids go up to %d", m.Prompt.Vocab()-1)}
		}
	}
	return reply(c.RequestCtx, detokenizeAnswer{string(m.Prompt.Tokenizer().Decode(nil, *ask.Tokens))})
}

// object reads a body that is one JSON object into v.
func (s *Server) object(c *call, v any) ([]byte, error) {
	body, err := s.document(c, nil)
	if err != nil {
		return nil, err
	}
	return body, readObject(body, v)
}

// readObject reads a document that is one JSON object.
func readObject(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return &dialect.Problem{Param: wrong.Field, Message: "must be " + kindOfField(wrong.Type) + ", not " + wrong.Value}
	case wrong != nil:
		return &dialect.Problem{Message: "the body must be an object, not " + wrong.Value}
	case err != nil:
		return &dialect.Problem{Message: "invalid JSON: " + err.Error()}
	case bytes.TrimLeft(body, " \t\r\n")[0] != '{':
		return &dialect.Problem{Message: "invalid JSON: the body must be an object"}
	}
	return nil
}

// kindOfField names what a field must be, for people.
func kindOfField(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "a token id"
}
