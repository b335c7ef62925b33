package server

import (
	"encoding/json"

	"github.com/agentinfer/dyn/route"
)

// Learnt is what the strategies have learnt, as JSON by model. Those that keep
// nothing are left out.
func (s *Server) Learnt() map[string][]byte {
	s.mu.Lock()
	models := make([]*model, 0, len(s.models))
	for _, m := range s.models {
		models = append(models, m)
	}
	s.mu.Unlock()
	learnt := map[string][]byte{}
	for _, m := range models {
		if b := m.learnt(); b != nil {
			learnt[m.ID] = b
		}
	}
	return learnt
}

// learnt is the memory of the model's strategy; nil where it keeps none.
func (m *model) learnt() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.Strategy.(route.Keeper)
	if !ok {
		return nil
	}
	b, err := json.Marshal(k)
	if err != nil {
		return nil
	}
	return b
}
