package gen

import (
	"fmt"
	"slices"

	"github.com/agentinfer/dyn/parsers"
)

// Choice is the parser that a model wants.
type Choice struct {
	Tools     string // "" when the template prints no calls, or none reads them
	Reasoning string // "" when it prints none
	Why       string
	Probes    int
	Others    []string // that read all probes too
}

// Which finds the specs of a set that read back everything that a model's
// template prints.
func Which(set *parsers.Set, model Model) (*Choice, error) {
	r, err := generate(set, model, false)
	if err != nil {
		return nil, err
	}
	c := &Choice{Probes: len(r.Probes)}
	if r.Spec.Reasoning != nil {
		c.Reasoning = reasoner(set, r.Spec.Reasoning)
	}
	switch {
	case r.Spec.Evidence.Verified == NoCalls:
		c.Why = "the template prints no calls of tools"
		if r.Near != nil && r.Near.Markers >= 0.75 {
			c.Tools = r.Near.Spec.Name
			c.Why += fmt.Sprintf("; it holds %.0f %% of the markers of %s", 100*r.Near.Markers, c.Tools)
		}
	case r.Like != nil:
		c.Tools = r.Like.Spec.Name
		if r.Like.Spec.Frame != nil {
			c.Reasoning = c.Tools // headers say what is reasoning
		} else if t := r.Like.Spec.Reasoning; t != nil && r.Spec.Reasoning != nil && calling(set, c.Reasoning) &&
			spelling(r.Spec.Reasoning.Close, t.Close) {
			c.Reasoning = c.Tools // a spec with calls of its own may take markers of these
		}
		c.Why = fmt.Sprintf("it reads all %d probes that the template prints", c.Probes)
		for _, m := range r.matches[1:] {
			if m.exact() {
				c.Others = append(c.Others, m.Spec.Name)
			}
		}
		slices.Sort(c.Others)
	default:
		c.Why = fmt.Sprintf("no parser reads all %d probes; dyn parsers gen writes one (grade %s)", c.Probes, r.Spec.Evidence.Verified)
		if r.Near != nil {
			c.Why += fmt.Sprintf("; nearest is %s, of whose markers the template holds %.0f %%", r.Near.Spec.Name, 100*r.Near.Markers)
		}
	}
	return c, nil
}

// reasoner is the name of a spec of reasoning with these markers, one without
// calls before others.
func reasoner(set *parsers.Set, t *parsers.Reasoning) string {
	best := ""
	for _, s := range set.Specs() {
		o := s.Reasoning
		if o == nil || !spelling(t.Close, o.Close) || len(t.Open) > 0 && !spelling(t.Open, o.Open) {
			continue
		}
		if s.Grammar == "" {
			return s.Name
		}
		if best == "" {
			best = s.Name
		}
	}
	return best
}

// calling reports whether a spec of reasoning is one of calls too.
func calling(set *parsers.Set, name string) bool {
	s, err := set.Lookup(name, parsers.Thinking)
	return err == nil && s.Grammar != ""
}
