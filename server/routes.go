package server

import (
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// route answers one request of a client.
func (s *Server) route(ctx *fasthttp.RequestCtx) {
	c := &call{RequestCtx: ctx, id: dialect.NewID("req_"), path: string(ctx.Path())}
	c.codec = s.codec(c)
	c.Response.Header.Set("request-id", c.id)
	c.Response.Header.Set("x-request-id", c.id)
	if err := s.dispatch(c); err != nil {
		s.refuse(c, err)
	}
	c.done()
	// Also sends the answer before a request that is there already is read.
	c.SetWriteDeadline(time.Now().Add(s.o.Patience))
}

// codec is the dialect of a request's path; a route without one speaks of
// problems as its clients do.
func (s *Server) codec(c *call) dialect.Codec {
	es := s.routes.find(c.path)
	if len(es) > 0 && es[0].dialect != "" {
		return codecOf(es[0].dialect)
	}
	if strings.HasPrefix(c.path, "/v1/messages") || len(c.Request.Header.Peek("anthropic-version")) > 0 {
		return dialect.For(turn.Messages)
	}
	return dialect.For(turn.Chat)
}

// dispatch finds the endpoint of a request and lets it answer.
func (s *Server) dispatch(c *call) error {
	es := s.routes.find(c.path)
	method := string(c.Method())
	i := slices.IndexFunc(es, func(e *endpoint) bool { return e.takes(method) })
	if i < 0 || !es[i].open {
		if err := s.authorise(c); err != nil {
			return err
		}
	}
	switch {
	case i >= 0:
		if es[i].counts {
			if err := c.who.Ask(time.Now()); err != nil {
				return full(err)
			}
		}
		c.arg, _ = es[i].id(c.path)
		return es[i].do(s, c)
	case len(es) == 0:
		return &dialect.Problem{Kind: dialect.NotFound, Message: "no route " + clip(c.path) + "; /openapi.json lists what dyn serves"}
	}
	var allowed []string
	for _, e := range es {
		allowed = append(allowed, e.methods()...)
	}
	allow := strings.Join(allowed, ", ")
	c.Response.Header.Set("Allow", allow)
	return &dialect.Problem{Kind: dialect.Method, Message: "method " + clip(method) + " is not allowed here; use " + allow}
}

// refuse answers with an error in the codec's form.
func (s *Server) refuse(c *call, err error) {
	p := s.explain(err)
	drain(c.RequestCtx)
	if p.Kind == dialect.Left {
		c.SetConnectionClose()
	}
	status := p.StatusFor(c.codec.Dialect())
	s.count.refused(status)
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	if p.RetryAfter > 0 {
		c.Response.Header.Set("Retry-After", seconds(p.RetryAfter))
	}
	c.SetBody(c.codec.Problem(p, c.id))
}
