package gen

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/turn"
)

// Sample is a recorded raw output of a model.
type Sample struct {
	ID     string          `json:"id"`
	Text   string          `json:"text"`
	Tail   string          `json:"tail"`    // what the prompt ended with
	Prompt string          `json:"prefill"` // the same, by another name
	Tools  json.RawMessage `json:"tools"`   // as the chat API takes them
	Cut    string          `json:"finish"`  // "length" when a token limit ended it
	Expect *struct {
		Content   *string `json:"content"`
		Reasoning *string `json:"reasoning"`
		Calls     []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"calls"`
	} `json:"expect"` // what it says, where that is known

	offered []turn.Tool // Tools
}

// ReadSamples reads one JSON object a line.
func ReadSamples(data []byte) (all []Sample, err error) {
	sc := bufio.NewScanner(strings.NewReader(string(data)))
	sc.Buffer(nil, 64<<20)
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		var s Sample
		if err := json.Unmarshal(sc.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if s.Text == "" {
			return nil, fmt.Errorf("line %d: text is missing", n)
		}
		if len(s.Tools) > 0 && s.Tools[0] != '"' { // the name of a set says nothing here
			if s.offered, err = ReadTools(s.Tools); err != nil {
				return nil, fmt.Errorf("line %d: tools: %w", n, err)
			}
		}
		if s.ID == "" {
			s.ID = fmt.Sprintf("line %d", n)
		}
		if s.Tail == "" {
			s.Tail = s.Prompt
		}
		all = append(all, s)
	}
	return all, sc.Err()
}

// try reads a sample with a spec. The error tells where it disagrees: with
// what is expected, or, where nothing is, in markers that are left in the
// text and in calls that had to be mended.
func (s *Sample) try(spec *parsers.Spec) error {
	stream, err := parsers.Using(spec, parsers.Options{Tail: s.Tail, Offered: s.offered})
	if err != nil {
		return err
	}
	events := stream.Push(nil, s.Text)
	if s.Cut == "length" {
		stream.Cut()
	}
	events = stream.Close(events)
	var a answer
	a.add(events)
	if s.Expect != nil {
		return s.compare(a)
	}
	if a.flaws&turn.Repaired != 0 {
		return errors.New("the arguments of a call had to be mended")
	}
	for key, marks := range spec.Markers() {
		for _, m := range marks {
			literal, _, _ := strings.Cut(m, "{")
			if len(literal) > 3 && strings.Contains(a.content, literal) {
				return fmt.Errorf("%s %q is left in the text", key, m)
			}
		}
	}
	return nil
}

// compare holds an answer against what is expected.
func (s *Sample) compare(a answer) error {
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return strings.TrimSpace(*p)
	}
	want := Probe{Content: text(s.Expect.Content), Reasoning: text(s.Expect.Reasoning)}
	for _, c := range s.Expect.Calls {
		want.Calls = append(want.Calls, ProbeCall{c.Name, string(c.Arguments)})
	}
	if d := a.differs(want); d != "" {
		return errors.New(d)
	}
	return nil
}

// ReadTools reads tools as the chat API takes them: a list of functions, each
// wrapped or bare.
func ReadTools(data []byte) (all []turn.Tool, err error) {
	type function struct {
		Name       string
		Parameters json.RawMessage
	}
	var list []struct {
		function
		Function function
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	for _, t := range list {
		f := t.Function
		if f.Name == "" {
			f = t.function
		}
		all = append(all, turn.Tool{Name: f.Name, Bare: f.Name, Schema: f.Parameters})
	}
	return all, nil
}
