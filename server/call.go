package server

import (
	"bytes"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/tenant"
	"github.com/valyala/fasthttp"
)

// call is one request of a client while it is served. It dies with its
// handler, as fasthttp's part of it does.
type call struct {
	*fasthttp.RequestCtx
	id    string        // x-request-id of the answer
	path  string        // of the request
	codec dialect.Codec // in whose form problems are told
	arg   string        // what stands at the {id} of its path
	who   *tenant.Tenant
	let   bool   // a place of who's is taken, and nobody has taken it over
	input []byte // the request's own input items, where the answer is to be kept
}

// header looks a request's header up; "" when it is absent. It is the lookup
// that codecs take.
func (c *call) header(name string) string {
	if name == dialect.OurHeaders {
		return c.ours()
	}
	return string(c.Request.Header.Peek(name))
}

// ours lists the names of the headers that are dyn's own.
func (c *call) ours() string {
	var names []byte
	for key := range c.Request.Header.All() {
		if n := len(dialect.OurPrefix); len(key) > n && strings.EqualFold(string(key[:n]), dialect.OurPrefix) {
			names = append(append(names, bytes.ToLower(key)...), ',')
		}
	}
	return string(names)
}

// warn tells the client what it asked for and does not get, or not as asked.
// Warnings gather in one header.
func (c *call) warn(text string) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	if len(text) > warnMost {
		text = text[:warnMost] + "..."
	}
	if old := string(c.Response.Header.Peek(warnHeader)); old != "" {
		if len(old) > 4*warnMost {
			return
		}
		text = old + "; " + text
	}
	c.Response.Header.Set(warnHeader, text)
}

const (
	warnHeader = "x-dyn-warning"
	warnMost   = 300 // bytes of one warning
)

// enter takes a place within the key's limits; done or the flight gives it
// back.
func (c *call) enter() error {
	if err := c.who.Enter(time.Now()); err != nil {
		return err
	}
	c.let = true
	return nil
}

// tenant is the name of the key that the request came with, or "".
func (c *call) tenant() string {
	if c.who == nil {
		return ""
	}
	return c.who.Key().Name
}

// done ends the call.
func (c *call) done() {
	if c.let {
		c.let = false
		c.who.Leave(time.Now(), 0)
	}
}
