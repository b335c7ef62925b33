package brain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/agentinfer/dyn/engine/sim/voice"
)

// Fault is how a rule breaks its answer.
type Fault string

// The faults.
const (
	Crash  Fault = "crash"  // the process is gone at once
	Engine Fault = "engine" // the engine dies, the HTTP side says so
	Stall  Fault = "stall"  // no more tokens come
	Close  Fault = "close"  // the connection is cut
	Slow   Fault = "slow"   // tokens come far apart
)

// Defaults of a rule.
const (
	defaultPrefix = 256
	defaultSlow   = time.Second
)

// file is the form of a brain file.
type file struct {
	Rules []spec `yaml:"rules"`
}

// spec is one rule as written.
type spec struct {
	When    string   `yaml:"when"`
	Seen    *int     `yaml:"seen"`
	Prefix  int      `yaml:"prefix"`
	Say     *string  `yaml:"say"`
	SayIDs  []uint32 `yaml:"say_ids"`
	Answer  *message `yaml:"answer"`
	TokenMS float64  `yaml:"token_ms"`
	Fault   Fault    `yaml:"fault"`
	After   int      `yaml:"after"`
	FaultMS float64  `yaml:"fault_ms"`
}

// message is an answer as written.
type message struct {
	Reasoning string `yaml:"reasoning"`
	Content   string `yaml:"content"`
	Calls     []struct {
		Name      string         `yaml:"name"`
		Arguments map[string]any `yaml:"arguments"`
	} `yaml:"calls"`
}

// rule is one rule, ready to be tried.
type rule struct {
	when    *regexp.Regexp
	seen    int // -1: any number
	prefix  int
	answer  Answer
	message *voice.Message // of which answer's ids are made for each prompt; nil when they are there
}

func (s spec) compile(t Tokenizer) (rule, error) {
	r := rule{seen: -1, prefix: defaultPrefix}
	switch {
	case s.Say != nil && s.SayIDs != nil || s.Answer != nil && (s.Say != nil || s.SayIDs != nil):
		return r, errors.New("say, say_ids and answer exclude each other")
	case s.Prefix < 0 || s.After < 0 || s.TokenMS < 0 || s.FaultMS < 0:
		return r, errors.New("prefix, after, token_ms and fault_ms must not be negative")
	case s.Seen != nil && *s.Seen < 0:
		return r, errors.New("seen must not be negative")
	}
	switch s.Fault {
	case "", Crash, Engine, Stall, Close, Slow:
	default:
		return r, fmt.Errorf("fault %q is unknown; known are crash, engine, stall, close, slow", s.Fault)
	}
	if s.When != "" {
		re, err := regexp.Compile(s.When)
		if err != nil {
			return r, fmt.Errorf("when: %w", err)
		}
		r.when = re
	}
	if s.Seen != nil {
		r.seen = *s.Seen
	}
	if s.Prefix > 0 {
		r.prefix = s.Prefix
	}
	r.answer = s.answer(t)
	var err error
	r.message, err = s.Answer.compile()
	return r, err
}

// compile makes an answer's arguments JSON.
func (m *message) compile() (*voice.Message, error) {
	if m == nil {
		return nil, nil
	}
	v := &voice.Message{Reasoning: m.Reasoning, Content: m.Content}
	for _, c := range m.Calls {
		if c.Name == "" {
			return nil, errors.New("answer: a call has no name")
		}
		if c.Arguments == nil {
			c.Arguments = map[string]any{}
		}
		var args bytes.Buffer
		e := json.NewEncoder(&args)
		e.SetEscapeHTML(false)
		if err := e.Encode(c.Arguments); err != nil {
			return nil, fmt.Errorf("answer: arguments of %s: %w", c.Name, err)
		}
		v.Calls = append(v.Calls, voice.Call{Name: c.Name, Args: bytes.TrimSpace(args.Bytes())})
	}
	return v, nil
}

// answer makes what the rule says. A rule that says nothing says the default
// sentence, so that a fault alone is a rule too.
func (s spec) answer(t Tokenizer) Answer {
	a := Answer{
		IDs:   s.SayIDs,
		Pause: millis(s.TokenMS),
		Fault: s.Fault,
		After: s.After,
		Slow:  millis(s.FaultMS),
	}
	if a.Slow == 0 {
		a.Slow = defaultSlow
	}
	switch {
	case s.Say != nil:
		a.IDs = t.Encode(nil, *s.Say)
	case s.SayIDs == nil:
		a.IDs = t.Encode(nil, Sentence)
	}
	return a
}

// fits tries a rule on the end of a prompt's text and the counts of earlier
// prompts that began alike.
func (r *rule) fits(end []byte, seen func(prefix int) int) bool {
	if r.when != nil && !r.when.Match(end) {
		return false
	}
	return r.seen < 0 || seen(r.prefix) == r.seen
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
