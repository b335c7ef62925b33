package server

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/agentinfer/dyn/route"
)

// Learnt is what the strategies have learnt, as JSON by the name of the model
// and the rule, as Options.Recall is asked for it, and what is learnt of pauses
// as "pauses", for RecallPauses. Those that keep nothing are left out.
func (s *Server) Learnt() map[string][]byte {
	learnt := map[string][]byte{}
	for _, m := range s.all() {
		maps.Copy(learnt, m.learnt())
	}
	if b := s.pauses.memory(); b != nil {
		learnt[pausesName] = b
	}
	return learnt
}

// learnt are the memories of the model's strategies. Of one rule with several
// settings the one counts that the router goes by, else the one without any.
func (m *model) learnt() map[string][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	learnt := map[string][]byte{}
	for text, s := range m.strategies {
		k, ok := s.(route.Keeper)
		of := m.memory(text)
		if plain := !strings.Contains(text, ":") && of != m.memory(m.knobs.Strategy); !ok || learnt[of] != nil && text != m.knobs.Strategy && !plain {
			continue
		}
		if b, err := json.Marshal(k); err == nil {
			learnt[of] = b
		}
	}
	return learnt
}

// memory names what a rule has learnt of the model, whatever its settings.
func (m *model) memory(text string) string {
	rule, _, _ := strings.Cut(text, ":")
	return m.ID + " " + rule
}
