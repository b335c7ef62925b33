package server

import (
	"bytes"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// turnRoutes are the three APIs.
var turnRoutes = map[string]turn.Dialect{
	"/v1/messages":         turn.Messages,
	"/v1/responses":        turn.Responses,
	"/v1/chat/completions": turn.Chat,
}

// route answers one request of a client.
func (s *Server) route(c *fasthttp.RequestCtx) {
	path := string(c.Path())
	codec := s.codec(c, path)
	id := dialect.NewID("req_")
	c.Response.Header.Set("request-id", id)
	c.Response.Header.Set("x-request-id", id)
	if err := s.dispatch(c, path, codec); err != nil {
		s.refuse(c, codec, err, id)
	}
	// Also sends the answer before a request that is there already is read.
	c.SetWriteDeadline(time.Now().Add(s.o.Patience))
}

// codec is the dialect of a path; a route without one speaks of problems as
// its clients do.
func (s *Server) codec(c *fasthttp.RequestCtx, path string) dialect.Codec {
	if codec := dialect.For(turnRoutes[path]); codec != nil {
		return codec
	}
	if strings.HasPrefix(path, "/v1/messages") || len(c.Request.Header.Peek("anthropic-version")) > 0 {
		return dialect.For(turn.Messages)
	}
	return dialect.For(turn.Chat)
}

// dispatch finds the handler of a path.
func (s *Server) dispatch(c *fasthttp.RequestCtx, path string, codec dialect.Codec) error {
	switch path {
	case "/health":
		return s.only(c, s.health, "GET", "HEAD")
	case "/live":
		return s.only(c, s.live, "GET", "HEAD")
	case "/", "/api/hello": // Claude Code warms its connection up
		return s.only(c, s.live, "GET", "HEAD")
	}
	if err := s.authorise(c); err != nil {
		return err
	}
	switch {
	case turnRoutes[path] != "":
		return s.only(c, func(c *fasthttp.RequestCtx) error { return s.serve(c, codec) }, "POST")
	case path == "/v1/messages/count_tokens":
		return s.only(c, s.countTokens, "POST")
	case path == "/v1/models":
		return s.only(c, s.listModels, "GET", "HEAD")
	case strings.HasPrefix(path, "/v1/models/"):
		return s.only(c, s.oneModel, "GET", "HEAD")
	case path == "/metrics":
		return s.only(c, s.metrics, "GET", "HEAD")
	}
	return &dialect.Problem{Kind: dialect.NotFound, Message: "no route " + clip(path) + "; dyn serves /v1/messages, /v1/responses, /v1/chat/completions, /v1/models"}
}

// only lets the named methods through.
func (s *Server) only(c *fasthttp.RequestCtx, h func(*fasthttp.RequestCtx) error, methods ...string) error {
	for _, m := range methods {
		if string(c.Method()) == m {
			return h(c)
		}
	}
	allow := strings.Join(methods, ", ")
	c.Response.Header.Set("Allow", allow)
	return &dialect.Problem{Kind: dialect.Method, Message: "method " + clip(string(c.Method())) + " is not allowed here; use " + allow}
}

// authorise checks the key, in either of the places where clients put it.
func (s *Server) authorise(c *fasthttp.RequestCtx) error {
	if s.o.APIKey == "" {
		return nil
	}
	key := c.Request.Header.Peek("x-api-key")
	if auth := c.Request.Header.Peek("Authorization"); bytes.HasPrefix(auth, []byte("Bearer ")) {
		key = auth[len("Bearer "):]
	}
	if !equal(key, s.o.APIKey) {
		return &dialect.Problem{Kind: dialect.Unauthorized, Message: "the API key is missing or wrong"}
	}
	return nil
}

// refuse answers with an error in the codec's form.
func (s *Server) refuse(c *fasthttp.RequestCtx, codec dialect.Codec, err error, id string) {
	p := s.explain(err)
	drain(c)
	if p.Kind == dialect.Left {
		c.SetConnectionClose()
	}
	s.count.refused(p.Status())
	c.SetStatusCode(p.Status())
	c.SetContentType("application/json")
	if p.RetryAfter > 0 {
		c.Response.Header.Set("Retry-After", seconds(p.RetryAfter))
	}
	c.SetBody(codec.Problem(p, id))
}

// malformed answers what fasthttp could not read as a request.
func (s *Server) malformed(c *fasthttp.RequestCtx, err error) {
	status, text := fasthttp.StatusBadRequest, "malformed request"
	var small *fasthttp.ErrSmallBuffer
	if asSmall(err, &small) {
		status, text = fasthttp.StatusRequestHeaderFieldsTooLarge, "the headers are larger than 64 KiB"
	}
	readOff(c.Conn(), c.Conn(), malformedPause) // else what it still sends would take the answer along
	s.count.refused(status)
	c.ResetBody()
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	c.SetBodyString(`{"error":{"message":"` + text + `","type":"invalid_request_error","param":null,"code":null}}`)
}
