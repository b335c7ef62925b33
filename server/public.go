package server

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/valyala/fasthttp"
)

// countTokens answers how long a prompt is, without a worker.
func (s *Server) countTokens(c *fasthttp.RequestCtx) error {
	body, err := s.body(c)
	if err != nil {
		return err
	}
	t, err := dialect.DecodeCount(body, header(c))
	if err != nil {
		return err
	}
	m, err := s.known(t.Model)
	if err != nil {
		return err
	}
	prompt.Steady(t)
	n, err := m.Prompt.Count(t)
	if err != nil {
		return &dialect.Problem{Kind: dialect.Invalid, Message: err.Error()}
	}
	return reply(c, map[string]int{"input_tokens": n})
}

// listModels answers in the form of the asking client.
func (s *Server) listModels(c *fasthttp.RequestCtx) error {
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
func (s *Server) oneModel(c *fasthttp.RequestCtx) error {
	m, err := s.known(strings.TrimPrefix(string(c.Path()), "/v1/models/"))
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

// health answers 200 while some model has a ready worker.
func (s *Server) health(c *fasthttp.RequestCtx) error {
	state, ready, all := s.state()
	if ready == 0 || s.stopping.Load() {
		c.SetStatusCode(fasthttp.StatusServiceUnavailable)
		c.Response.Header.Set("Retry-After", seconds(retryAfter))
	}
	return reply(c, map[string]any{"status": state, "workers_ready": ready, "workers": all})
}

// live answers while the process does.
func (s *Server) live(c *fasthttp.RequestCtx) error {
	return reply(c, map[string]any{"status": "live", "uptime_s": int(time.Since(s.started).Seconds())})
}

// state is the daemon's state in a word.
func (s *Server) state() (word string, ready, all int) {
	for _, m := range s.all() {
		r, a := m.ready()
		ready, all = ready+r, all+a
	}
	if ready > 0 {
		s.was.Store(true)
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
