package server

import (
	"encoding/json"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/valyala/fasthttp"
)

// listModels answers in the form of the asking client.
func (s *Server) listModels(c *call) error {
	var list []dialect.ModelInfo
	for _, m := range s.all() {
		list = append(list, s.modelInfo(m))
	}
	c.SetContentType("application/json")
	if len(c.Request.Header.Peek("anthropic-version")) > 0 {
		c.SetBody(dialect.ModelsAnthropic(list))
	} else {
		c.SetBody(dialect.ModelsOpenAI(list))
	}
	return nil
}

// oneModel answers GET /v1/models/{id}; ids may hold slashes.
func (s *Server) oneModel(c *call) error {
	m, err := s.known(c.arg)
	if err != nil {
		return err
	}
	c.SetContentType("application/json")
	if len(c.Request.Header.Peek("anthropic-version")) > 0 {
		c.SetBody(dialect.ModelAnthropic(s.modelInfo(m)))
	} else {
		c.SetBody(dialect.ModelOpenAI(s.modelInfo(m)))
	}
	return nil
}

func (s *Server) modelInfo(m *model) dialect.ModelInfo {
	return dialect.ModelInfo{ID: m.ID, Context: m.known(), Created: s.started}
}

// known is the context of the model's workers, ready or not.
func (m *model) known() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	most := 0
	for _, b := range m.members {
		most = max(most, m.contextOf(b))
	}
	return most
}

type healthAnswer struct {
	Status string `json:"status"`
	Ready  int    `json:"workers_ready"`
	All    int    `json:"workers"`
}

type liveAnswer struct {
	Status string `json:"status"`
	Uptime int    `json:"uptime_s"`
}

// health answers 200 while some model has a ready worker.
func (s *Server) health(c *call) error {
	state, ready, all := s.state()
	if ready == 0 || s.stopping.Load() {
		c.SetStatusCode(fasthttp.StatusServiceUnavailable)
		c.Response.Header.Set("Retry-After", seconds(retryAfter))
	}
	return reply(c.RequestCtx, healthAnswer{state, ready, all})
}

// live answers while the process does.
func (s *Server) live(c *call) error {
	return reply(c.RequestCtx, liveAnswer{"live", int(time.Since(s.started).Seconds())})
}

// state is the daemon's state in a word.
func (s *Server) state() (word string, ready, all int) {
	for _, m := range s.all() {
		r, a := m.ready()
		ready, all = ready+r, all+a
	}
	switch {
	case s.stopping.Load():
		return "stopping", ready, all
	case ready == 0 && !s.was.Load():
		return "starting", ready, all
	case ready == 0:
		return "no workers", ready, all
	case ready < all:
		return "degraded", ready, all
	}
	return "ready", ready, all
}

// reply answers with a JSON document.
func reply(c *fasthttp.RequestCtx, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.SetContentType("application/json")
	c.SetBody(append(b, '\n'))
	return nil
}
