package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// How long an engine may take to answer that is attached; and one that is
// drained and starts anew, since weights take their time.
const (
	attachPatience  = 2 * time.Minute
	restartPatience = 30 * time.Minute
)

// routeControl answers the control socket: facts for every command and
// screen, and what they may change. Errors are {"error":{"op","message",
// "why","try"}} with status 4xx or 5xx.
func (s *Server) routeControl(c *fasthttp.RequestCtx) {
	if err := s.command(c); err != nil {
		status := fasthttp.StatusInternalServerError
		if errors.Is(err, errNoCommand) || errors.Is(err, errNoSession) || errors.Is(err, errNoLease) || errors.Is(err, errNoAgent) || errors.Is(err, errNoText) {
			status = fasthttp.StatusNotFound
		}
		var fault *turn.Fault
		if errors.As(err, &fault) {
			status = fasthttp.StatusUnprocessableEntity
		} else {
			fault = &turn.Fault{Op: "control", Err: err}
		}
		body := map[string]any{"op": fault.Op, "message": fault.Err.Error(), "why": fault.Why, "try": fault.Try}
		reply(c, map[string]any{"error": body})
		c.SetStatusCode(status)
	}
}

var errNoCommand = errors.New("no such command")

// command runs one request of the control socket.
func (s *Server) command(c *fasthttp.RequestCtx) error {
	path := strings.TrimSuffix(string(c.Path()), "/")
	session, named := strings.CutPrefix(string(c.RequestURI()), "/sessions/") // not the path: ".." is a name too
	leases, ofLeases := strings.CutPrefix(string(c.RequestURI()), "/leases")
	leases, _, _ = strings.Cut(strings.TrimPrefix(leases, "/"), "?")
	switch method := string(c.Method()); {
	case ofLeases:
		return s.commandLeases(c, method, leases)
	case method == "GET" && path == "/snapshot":
		return reply(c, s.Snapshot())
	case method == "GET" && path == "/workers":
		return reply(c, s.Snapshot().Workers)
	case method == "GET" && path == "/health":
		return s.health(&call{RequestCtx: c})
	case method == "GET" && strings.HasPrefix(path, "/turns/") && strings.HasSuffix(path, "/break"):
		return s.brokeText(c, path)
	case method == "GET" && path == "/settings":
		return reply(c, s.settings())
	case method == "POST" && path == "/settings":
		return s.setting(c)
	case method == "POST" && path == "/stop":
		return s.stop(c)
	case method == "DELETE" && named:
		return s.forget(c, session)
	case method == "GET" && path == "/keys":
		return reply(c, s.keyPicture())
	case method == "POST" && path == "/keys/reload":
		if err := s.reloadKeys(); err != nil {
			return err
		}
		return reply(c, s.keyPicture())
	case method == "POST" && path == "/workers":
		return s.attach(c)
	case method == "DELETE" && strings.HasPrefix(path, "/workers/") && s.ups.remove(strings.TrimPrefix(path, "/workers/")):
		return reply(c, map[string]any{"ok": true})
	case method == "DELETE" && strings.HasPrefix(path, "/workers/"):
		return s.fleet(c, s.o.Fleet.Detach, strings.TrimPrefix(path, "/workers/"))
	case method == "POST" && strings.HasPrefix(path, "/workers/"):
		name, verb, _ := strings.Cut(strings.TrimPrefix(path, "/workers/"), "/")
		switch verb {
		case "restart":
			return s.fleet(c, s.o.Fleet.Restart, name)
		case "drain":
			return s.fleet(c, s.o.Fleet.Drain, name)
		}
	}
	return fmt.Errorf("%w: %s %s", errNoCommand, c.Method(), clip(path))
}

// attach adds an engine that dyn did not start.
func (s *Server) attach(c *fasthttp.RequestCtx) error {
	body, err := s.body(c, nil)
	if err != nil {
		return err
	}
	var a turn.Attach
	if err := json.Unmarshal(body, &a); err != nil {
		return &turn.Fault{Op: "attach", Err: err, Try: "dyn up --attach http://host:port --model-dir DIR"}
	}
	ctx, cancel := context.WithTimeout(s.life, attachPatience)
	defer cancel()
	defer s.watches.watch(c.Conn(), cancel)() // who does not wait for it any more does not want it
	if a.Kind != "" {
		name, err := s.AttachKind(ctx, a)
		if err != nil {
			return err
		}
		return reply(c, map[string]any{"name": name, "url": a.URL, "kind": a.Kind, "state": turn.Ready, "attached": true})
	}
	info, err := s.o.Fleet.Attach(ctx, a)
	if err != nil {
		return err
	}
	return reply(c, map[string]any{"name": info.Name, "url": info.URL, "model": info.Caps.Model, "state": info.State, "attached": info.Attached})
}

// fleet does one thing to a worker. It is done although its asker leaves.
func (s *Server) fleet(c *fasthttp.RequestCtx, do func(context.Context, string) error, name string) error {
	ctx, cancel := context.WithTimeout(s.life, restartPatience)
	defer cancel()
	if err := do(ctx, name); err != nil {
		return err
	}
	return reply(c, map[string]any{"ok": true})
}

// stop asks the daemon to end; the answer leaves before it does.
func (s *Server) stop(c *fasthttp.RequestCtx) error {
	body, err := s.body(c, nil)
	if err != nil {
		return err
	}
	var ask struct {
		Now bool `json:"now"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &ask); err != nil {
			return &turn.Fault{Op: "stop", Err: err}
		}
	}
	grace := 10 * time.Minute
	if ask.Now {
		grace = 0
	}
	s.stopping.Store(true)
	go s.o.Stop(grace)
	aloft := 0
	s.aloft.Range(func(any, any) bool { aloft++; return true })
	return reply(c, map[string]any{"ok": true, "turns_running": aloft})
}
