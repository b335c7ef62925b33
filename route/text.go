package route

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// TextError says what is wrong with a text that shall name a strategy.
type TextError struct {
	Name  string // as it stands before the first colon
	Known bool   // there is a rule of that name: its knobs are wrong
	Knob  string // the part that is wrong, as it is written
	Why   string
}

// Error names the strategy and says why it is none.
func (e *TextError) Error() string {
	switch {
	case e.Known:
		return "strategy " + e.Name + ": " + e.Why
	case e.Name == "":
		return "strategy: " + e.Why
	}
	return fmt.Sprintf("strategy %q: %s", e.Name, e.Why)
}

// New makes the strategy that a text names: the name of a rule, and behind it
// knobs that differ from their defaults, "dyn:memory=2:start=0.6". "" is the
// default rule. Every call makes a new one, without a memory. The error is a
// *TextError.
func New(text string) (Strategy, error) {
	name, rest, set := strings.Cut(text, ":")
	if text == "" {
		name = rules[0].Name
	}
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name || r.Alias == name && name != "" })
	switch {
	case at < 0 && name == "":
		return nil, &TextError{Why: "no name stands before the colon; known are " + strings.Join(Names(), ", ")}
	case at < 0:
		return nil, &TextError{Name: name, Why: "known are " + strings.Join(Names(), ", ")}
	case !set:
		return rules[at].build(maps.Clone(rules[at].Knobs)), nil
	}
	knobs, err := rules[at].turned(rest)
	if err != nil {
		return nil, err
	}
	return rules[at].build(knobs), nil
}

// turned are the rule's knobs with those of a text set.
func (r *Rule) turned(text string) (Knobs, error) {
	knobs, seen := maps.Clone(r.Knobs), map[string]bool{}
	for part := range strings.SplitSeq(text, ":") {
		key, value, valued := strings.Cut(part, "=")
		_, known := knobs[key]
		x, err := strconv.ParseFloat(value, 64)
		no := ""
		switch {
		case len(knobs) == 0:
			no = "it has no knobs, so nothing stands behind its name"
		case part == "":
			no = "no knob stands behind the colon; there are " + r.knobs()
		case !known:
			no = fmt.Sprintf("no knob %q; there are %s", key, r.knobs())
		case seen[key]:
			no = "knob " + key + ": is there twice"
		case !valued || value == "":
			no = "knob " + key + ": has no value, such as " + key + "=" + strconv.FormatFloat(r.Knobs[key], 'g', -1, 64)
		case err != nil || math.IsNaN(x) || math.Abs(x) > mostKnob:
			no = fmt.Sprintf("knob %s: %q is not a number up to %.0e", key, value, mostKnob)
		}
		if no != "" {
			return nil, &TextError{r.Name, true, part, no}
		}
		knobs[key], seen[key] = x, true
	}
	return knobs, nil
}

// knobs are the names of the rule's knobs.
func (r *Rule) knobs() string {
	return strings.Join(slices.Sorted(maps.Keys(r.Knobs)), ", ")
}
