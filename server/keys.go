package server

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/tenant"
	"github.com/agentinfer/dyn/turn"
)

// SetKeys replaces the keys with which clients may come, beside
// Options.APIKey. Turns that run go on.
func (s *Server) SetKeys(keys []turn.Key) { s.ring.Set(keys) }

// reloadKeys reads the keys anew. Where they cannot be read those in force
// stay; a server that could not read any serves Options.APIKey alone.
func (s *Server) reloadKeys() error {
	if s.o.Keys == nil {
		return nil
	}
	keys, err := s.o.Keys()
	if err != nil {
		s.locked.Store(s.ring.Empty())
		return &turn.Fault{Op: "read keys", Err: err, Why: "the keys that were in force still are", Try: "dyn key ls"}
	}
	s.ring.Set(keys)
	s.locked.Store(false)
	return nil
}

// authorise checks the key, in either of the places where clients put it.
// Without keys only clients on this machine are served.
func (s *Server) authorise(c *call) error {
	if s.o.APIKey == "" && s.ring.Empty() && !s.locked.Load() {
		if !local(c.RemoteAddr()) {
			return &dialect.Problem{Kind: dialect.Unauthorized, Message: "no API key is set up, so only clients on this machine are served; see dyn key add"}
		}
		if origin := string(c.Request.Header.Peek("Origin")); fromElsewhere(origin) {
			return &dialect.Problem{Kind: dialect.Forbidden, Message: fmt.Sprintf("a page of %.100q asks through a browser on this machine, and no API key is set up; see dyn key add", origin)}
		}
		return nil
	}
	key := c.Request.Header.Peek("x-api-key")
	if auth := c.Request.Header.Peek("Authorization"); len(auth) > len(bearer) && bytes.EqualFold(auth[:len(bearer)], bearer) {
		key = auth[len(bearer):]
	}
	if s.o.APIKey != "" && equal(key, s.o.APIKey) {
		return nil
	}
	if c.who = s.ring.Find(key); c.who == nil {
		return &dialect.Problem{Kind: dialect.Unauthorized, Message: "the API key is missing or wrong"}
	}
	return nil
}

var bearer = []byte("Bearer ")

// local reports an address on this machine; connections in memory have none.
func local(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback() || tcp.IP.IsUnspecified()
}

// fromElsewhere reports the origin of a web page that is not this machine's: any
// page that a user looks at can send requests to the loopback address. Agents
// send no origin, and those of editors have schemes of their own.
func fromElsewhere(origin string) bool {
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	if err != nil || origin == "null" {
		return true
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host != "localhost" && !strings.HasSuffix(host, ".localhost") && (ip == nil || !ip.IsLoopback())
}

// full makes a met limit a problem.
func full(err error) error {
	var f *tenant.Full
	if errors.As(err, &f) {
		return &dialect.Problem{Kind: dialect.Limited, Message: f.Why, RetryAfter: f.Wait}
	}
	return err
}

// keyUse is a key and what it has used since the daemon's start.
type keyUse struct {
	Name        string `json:"name"`
	Requests    int    `json:"requests_per_minute"`
	Tokens      int    `json:"tokens_per_minute"`
	Concurrent  int    `json:"concurrent"`
	MaxPriority *int   `json:"max_priority"`
	Route       bool   `json:"route"`
	Turns       int64  `json:"turns"`
	Refused     int64  `json:"refused"`
	Used        int64  `json:"tokens"`
	Running     int    `json:"running"`
}

// keyPicture is the keys in force; limits of 0 are none.
func (s *Server) keyPicture() []keyUse {
	list := []keyUse{}
	for _, t := range s.ring.All() {
		k, u := t.Key(), t.Used()
		one := keyUse{
			Name: k.Name, Requests: k.Requests, Tokens: k.Tokens, Concurrent: k.Concurrent, Route: k.Route,
			Turns: u.Turns, Refused: u.Refused, Used: u.Tokens, Running: u.Running,
		}
		if k.Capped {
			one.MaxPriority = &k.MaxPriority
		}
		list = append(list, one)
	}
	return list
}
