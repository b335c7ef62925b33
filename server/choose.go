package server

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/route"
	rules "github.com/agentinfer/dyn/route/script"
)

// choose decides for a flight among candidates: by the strategy that the turn
// names, else the knobs'. mu must be held.
func (m *model) choose(f *flight, n *route.Need, cs []route.Candidate) route.Decision {
	name := m.rule(f)
	d := route.Place(m.strategy(name), *n, cs)
	m.warn(f.s.log, d.Warning, time.Now())
	d.Gate = cmp.Or(m.knobs.Gate, route.Auto)
	if t := m.knobs.Threshold; t != nil && *t != route.DefaultThreshold {
		d.Threshold = t
	}
	if d.Strategy = name; n.Overrides != (route.Overrides{}) {
		set := n.Overrides
		d.Set = &set
	}
	return d
}

// rule is the name of the strategy that decides for a flight; mu must be held.
func (m *model) rule(f *flight) string {
	return cmp.Or(f.t.Hints.Route.Strategy, m.knobs.Strategy, defaultRule)
}

var defaultRule = route.Names()[0]

// strategy returns the model's own of a name: some learn. mu must be held.
func (m *model) strategy(text string) route.Strategy {
	s := m.strategies[text]
	if s == nil {
		var err error
		if text == m.knobs.Strategy {
			s, err = rules.New(text) // a file too, which no client may name
		} else {
			s, err = route.New(text)
		}
		if err != nil { // names are checked before they come here
			s, _ = route.New("")
		}
		if m.recall != nil {
			m.recall(m.memory(text), s)
		}
		m.strategies[text] = s
		m.keepFew(text)
	}
	return s
}

// mostTurned is how many strategies with knobs are kept of those that turns named:
// there may be any number of them. One that comes back learns anew.
const mostTurned = 32

// keepFew notes a strategy that was made, and lets go of the one with knobs that
// was made first where they are too many; mu must be held.
func (m *model) keepFew(text string) {
	if !strings.Contains(text, ":") {
		return
	}
	m.turned = append(m.turned, text)
	for i, old := range m.turned {
		if len(m.turned) > mostTurned && old != m.knobs.Strategy && old != text {
			delete(m.strategies, old)
			m.turned = slices.Delete(m.turned, i, i+1)
			return
		}
	}
}

// warnEvery is how often the same warning of a strategy is logged.
const warnEvery = time.Minute

// warn logs what a strategy warns of: each turn's decision has it too. mu must
// be held.
func (m *model) warn(log *slog.Logger, warning string, now time.Time) {
	if warning == "" || warning == m.warned && now.Sub(m.warnAt) < warnEvery {
		return
	}
	m.warned, m.warnAt = warning, now
	log.Warn("strategy", "model", m.ID, "warning", warning)
}
