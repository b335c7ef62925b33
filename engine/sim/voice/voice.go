package voice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/parsers/gen"
	"github.com/agentinfer/dyn/prompt/bpe"
	"github.com/agentinfer/dyn/prompt/template"
)

// Message is an answer as a client gets it.
type Message struct {
	Reasoning string
	Content   string
	Calls     []Call
}

// Call is one call of a tool.
type Call struct {
	Name string
	Args json.RawMessage // a JSON object
}

// Voice writes answers.
type Voice struct {
	tmpl    *template.Template
	tok     *bpe.Tokenizer
	special []string      // tokens
	calls   *parsers.Spec // nil when the family has none
	think   *parsers.Spec // nil when it does not think
	thought thought       // how reasoning is written
	whole   bool          // the template writes it, among messages with headers
}

// Open makes the voice of a model folder. tools and reasoning are the names of
// its parsers; "" for both is found out, which takes up to a second.
func Open(fsys fs.FS, tok *bpe.Tokenizer, tools, reasoning string) (*Voice, error) {
	v := &Voice{tok: tok}
	var err error
	if v.tmpl, err = template.Open(fsys, template.Options{}); err != nil {
		return nil, err
	}
	if tools == "" && reasoning == "" {
		src, err := template.Read(fsys)
		if err != nil {
			return nil, err
		}
		m := gen.Model{Name: "voice", Template: src.ForTools(), Variables: src.Tokens}
		m.Added, m.Stops = gen.ReadTokens(fsys)
		choice, err := gen.Which(parsers.Builtin(), m)
		if err != nil {
			return nil, fmt.Errorf("find the parser of the model: %w", err)
		}
		tools, reasoning = choice.Tools, choice.Reasoning
	}
	if tools != "" {
		if v.calls, err = parsers.Lookup(tools, parsers.Tools); err != nil {
			return nil, err
		}
	}
	if reasoning != "" {
		if v.think, err = parsers.Lookup(reasoning, parsers.Thinking); err != nil {
			return nil, err
		}
	}
	for _, s := range tok.Added() {
		if id, _ := tok.ID(s); tok.Special(id) {
			v.special = append(v.special, s)
		}
	}
	v.whole = v.findWhole()
	v.thought = v.findThought()
	return v, nil
}

// ErrUnwritable is in the chain of an error about an answer that the family
// has no way to write.
var ErrUnwritable = errors.New("the family cannot write this")

// write returns the text of an answer, and its end token.
func (v *Voice) write(m Message, tail string, before int) (text, end string, err error) {
	t, err := v.turn(m, before)
	if err != nil {
		return "", "", err
	}
	if len(m.Calls) > 0 && (!v.tmpl.Calls() || !strings.Contains(t.body, m.Calls[0].Name)) {
		return "", "", fmt.Errorf("%w: its template prints no call of %s", ErrUnwritable, m.Calls[0].Name)
	}
	return v.thoughtful(m, tail) + t.body, t.end, nil
}

// Write returns the ids of an answer to a prompt, its end token included. tail
// is the end of the prompt, and before is how many calls it holds: some
// families number theirs.
func (v *Voice) Write(m Message, tail string, before int) ([]uint32, error) {
	text, end, err := v.write(m, tail, before)
	if err != nil {
		return nil, err
	}
	ids := v.tok.Encode(nil, text)
	if id, ok := v.tok.ID(end); ok {
		ids = append(ids, id)
	}
	return ids, nil
}

// Before counts the calls in a prompt, where the family numbers its calls or
// gives them ids.
func (v *Voice) Before(prompt []uint32) (n int) {
	if v.calls == nil || len(v.calls.Call.Open) == 0 {
		return 0
	}
	id, ok := v.tok.ID(v.calls.Call.Open[0])
	if !ok {
		return 0
	}
	for _, x := range prompt {
		if x == id {
			n++
		}
	}
	return n
}
