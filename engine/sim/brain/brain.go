package brain

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/agentinfer/dyn/engine/sim/voice"
)

// Sentence is the answer when no rule fits.
const Sentence = "I am a simulated engine and have no script for this."

// Limits of a brain file and of the text that rules look at.
const (
	maxFile = 4 << 20
	tail    = 4000
)

// Tokenizer is what a brain needs to read prompts and to write answers.
type Tokenizer interface {
	Encode(dst []uint32, text string) []uint32
	Decode(dst []byte, ids []uint32) []byte
}

// Speaker writes answers as the model's family does, see package voice.
type Speaker interface {
	// Write returns the ids of an answer to a prompt that ends in tail and holds
	// so many calls.
	Write(m voice.Message, tail string, before int) ([]uint32, error)

	// Before counts the calls in a prompt.
	Before(prompt []uint32) int
}

// Answer is what to say to one prompt. IDs are not to be written.
type Answer struct {
	IDs   []uint32
	Pause time.Duration // least time between two tokens
	Fault Fault         // "" is none
	After int           // tokens before the fault
	Slow  time.Duration // pause after a Slow fault
}

// Brain answers prompts by its rules. Make one with New or Open; it is safe
// for concurrent use.
type Brain struct {
	tok    Tokenizer
	rules  []rule
	looks  bool // some rule has a regular expression
	dflt   Answer
	speak  Speaker // nil without rules that need one
	counts counts
}

// Open reads a brain file, see New.
func Open(path string, t Tokenizer, speaker func() (Speaker, error)) (*Brain, error) {
	f, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read brain: %w", err)
	}
	if f.Size() > maxFile {
		return nil, fmt.Errorf("read brain %s: %d bytes are more than %d", path, f.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read brain: %w", err)
	}
	b, err := New(data, t, speaker)
	if err != nil {
		return nil, fmt.Errorf("read brain %s: %w", path, err)
	}
	return b, nil
}

// New reads rules from YAML; nil data is a brain without rules. speaker is
// asked for one only when a rule has an answer to be written.
func New(data []byte, t Tokenizer, speaker func() (Speaker, error)) (*Brain, error) {
	b := &Brain{tok: t, dflt: Answer{IDs: t.Encode(nil, Sentence)}}
	if len(data) == 0 {
		return b, nil
	}
	var f file
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return nil, errors.New(yaml.FormatError(err, false, true))
	}
	for i, s := range f.Rules {
		r, err := s.compile(t)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		if r.message != nil {
			if err := b.try(r.message, speaker); err != nil {
				return nil, fmt.Errorf("rule %d: answer: %w", i+1, err)
			}
		}
		b.looks = b.looks || r.when != nil || r.message != nil
		b.rules = append(b.rules, r)
	}
	return b, nil
}

// try looks whether the family can write an answer.
func (b *Brain) try(m *voice.Message, speaker func() (Speaker, error)) (err error) {
	if b.speak == nil {
		if b.speak, err = speaker(); err != nil {
			return err
		}
	}
	_, err = b.speak.Write(*m, "", 0)
	return err
}

// Answer says what to answer to a prompt, and counts it as seen.
func (b *Brain) Answer(prompt []uint32) Answer {
	if len(b.rules) == 0 {
		return b.dflt
	}
	var end []byte
	if b.looks {
		end = b.end(prompt)
	}
	seen := b.counts.see(b.rules, prompt)
	for i := range b.rules {
		if b.rules[i].fits(end, seen) {
			return b.say(&b.rules[i], prompt, end)
		}
	}
	return b.dflt
}

// say is the answer of a rule.
func (b *Brain) say(r *rule, prompt []uint32, end []byte) Answer {
	a := r.answer
	if r.message != nil {
		ids, err := b.speak.Write(*r.message, string(end), b.speak.Before(prompt))
		if err != nil { // it was tried
			return b.dflt
		}
		a.IDs = ids
	}
	return a
}

// end decodes the last characters of a prompt. A token has at least one
// character in nearly all cases, so few rounds are needed.
func (b *Brain) end(prompt []uint32) []byte {
	for n := tail / 3; ; n *= 2 {
		from := max(len(prompt)-n, 0)
		text := b.tok.Decode(nil, prompt[from:])
		if from > 0 && utf8.RuneCount(text) < tail {
			continue
		}
		return last(text, tail)
	}
}

// last cuts text to its last n characters.
func last(text []byte, n int) []byte {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return text[at:]
}
