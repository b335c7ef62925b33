package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/cache/lease"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/server/tenant"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

const (
	windowSteps    = 60                     // seconds that a worker's overlap and hit cover
	recallBytes    = 128 << 20              // of bodies that are recognised when they come again
	rawBytes       = 64 << 20               // raw turns kept per model
	maxMoves       = 3                      // times a turn goes on at another worker
	drainTime      = 10 * time.Second       // how long that may take
	drainPause     = time.Second            // a client that sends nothing for so long waits for its answer
	malformedPause = 100 * time.Millisecond // the same for one whose request has no end that we know
	drainLimit     = 64 << 20               // bytes read off after a 413, so that the client can read it
	busyPause      = 250 * time.Millisecond // before workers that had no room are asked again
	maxClients     = 8192                   // connections at once; one more is refused with 503
	sendBuffer     = 128 << 10              // bytes of an answer that wait in the kernel for a client
	usualContext   = 32 << 10               // tokens, where neither engine nor model tells
	landTime       = 2 * time.Second        // for turns that were ended to write their last event and row
	retryAfter     = 5 * time.Second        // advice with a 503: a restart of a worker takes about that
)

var (
	errLeft     = errors.New("the client hung up")
	errStopping = errors.New("dyn is stopping")
	errPanic    = errors.New("internal error while answering")
)

// Options say how a Server works. Zero values mean the defaults.
type Options struct {
	Version     string
	APIKey      string                     // a key without a tenant or limits; "" is none
	Keys        func() ([]turn.Key, error) // reads the keys of tenants; nil has none
	Store       Shelf                      // of responses; nil is the ledger's
	MaxBody     int                        // bytes; default 32 MiB, as Anthropic's
	PingEvery   time.Duration              // sign of life while nothing comes; default 10 s
	Gather      time.Duration              // most that a token waits for others while many answers stream; default 20 ms, below 0 not at all
	Patience    time.Duration              // a client that takes no byte for this long is gone; default 2 min
	KeepText    bool                       // the ledger's books have texts too, where prompts part
	Ledger      *ledger.Ledger
	Fleet       Fleet
	Stop        Stopper
	Knobs       Knobs                             // of the router, at the start
	LeaseBudget float64                           // share of a worker's KV cache that leases may take; 0 is lease.DefaultBudget, below 0 none
	Recall      func(of string, s route.Strategy) // gives a new strategy what Learnt told of it; may be nil
	Turned      func(key, value string)           // hears of each knob that the control socket turns; may be nil
	Log         *slog.Logger
}

// Server is the daemon's front. Models and workers may come and go while it
// serves. All methods are safe for concurrent use.
type Server struct {
	o         Options
	pingEvery time.Duration
	http      *fasthttp.Server
	control   *fasthttp.Server
	ledger    *ledger.Ledger
	log       *slog.Logger
	sessions  *session.Store
	leases    *lease.Book
	pauses    absences
	routes    *routing
	described func() []byte // the page of the routes, written once
	ring      tenant.Ring
	locked    atomic.Bool // the keys could never be read: nobody may come without
	shelf     Shelf
	ups       upstreams
	beliefs   beliefs
	broke     broke
	watches   watches
	recall    *dialect.Recall
	recent    *gauge.Window // the last minute, all workers
	history   *gauge.Window // the last five minutes, in steps for the sparklines
	count     counters
	streaming atomic.Int64 // answers that have begun and not ended
	aloft     sync.Map     // turn id → *flight
	started   time.Time
	url       atomic.Pointer[string]
	drawn     atomic.Pointer[snapshot.Snapshot] // the last picture
	stopping  atomic.Bool
	was       atomic.Bool // some worker was ready once

	life context.Context // ends all flights
	kill context.CancelCauseFunc

	turning sync.Mutex // held while the control socket turns a knob

	mu      sync.Mutex // guards all below
	knobs   Knobs
	models  map[string]*model
	byModel map[string]*model // by worker name
}

// New returns a server without models.
func New(o Options) *Server {
	if o.MaxBody == 0 {
		o.MaxBody = 32 << 20
	}
	if o.PingEvery == 0 {
		o.PingEvery = 10 * time.Second
	}
	if o.Gather == 0 {
		o.Gather = gatherMost
	}
	if o.Patience == 0 {
		o.Patience = 2 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		knobs: o.Knobs,
		o:     o, pingEvery: o.PingEvery, ledger: o.Ledger, log: o.Log,
		sessions: session.New(session.Limits{}),
		recent:   gauge.NewWindow(windowSteps, time.Second), history: gauge.NewWindow(60, 5*time.Second),
		recall: dialect.NewRecall(recallBytes), started: time.Now(), models: map[string]*model{}, byModel: map[string]*model{},
	}
	s.leases = lease.New(lease.Options{Budget: o.LeaseBudget, Return: s.pauses.returns})
	s.life, s.kill = context.WithCancelCause(context.Background())
	s.routes = newRouting(table())
	s.described = sync.OnceValue(func() []byte { return describe(o.Version, table()) })
	if s.shelf = o.Store; s.shelf == nil {
		s.shelf = o.Ledger.Responses()
	}
	if err := s.reloadKeys(); err != nil {
		s.log.Error("keys", "err", err)
	}
	s.http = s.listener(s.route)
	s.control = s.listener(s.routeControl)
	return s
}

// listener returns a fasthttp server with the house rules: no default
// header, streamed bodies (their limit is ours to keep), no WriteTimeout,
// which would cut long streams.
func (s *Server) listener(h fasthttp.RequestHandler) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:               s.guard(h),
		ErrorHandler:          s.malformed,
		NoDefaultServerHeader: true,
		StreamRequestBody:     true,
		MaxRequestBodySize:    1, // of longer ones the handler is called when their first byte is there
		ExpectHandler:         s.expect,
		ConnState:             narrow,

		DisablePreParseMultipartForm: true,
		ReadBufferSize:               64 << 10,
		ReadTimeout:                  headTime,
		HeaderReceived:               bodyConfig,
		SecureErrorLogMessage:        true,
		IdleTimeout:                  5 * time.Minute,
		CloseOnShutdown:              true,
		Concurrency:                  maxClients,
		Logger:                       discard{},
	}
}

// bodyConfig gives a request whose head has come the time for its body.
func bodyConfig(*fasthttp.RequestHeader) fasthttp.RequestConfig {
	return fasthttp.RequestConfig{ReadTimeout: bodyTime}
}

// expect answers a client that asks before it sends its body.
func (s *Server) expect(c *fasthttp.RequestCtx) int {
	if c.Request.Header.ContentLength() <= s.o.MaxBody {
		return fasthttp.StatusContinue
	}
	k := &call{RequestCtx: c, id: dialect.NewID("req_"), path: string(c.Path())}
	k.codec = s.codec(k)
	s.refuse(k, s.tooLarge())
	return fasthttp.StatusRequestEntityTooLarge
}

// narrow bounds what the kernel takes of an answer before its client does: a
// client that stops reading should hold back its worker soon, not after the
// megabytes that the kernel would grow to.
func narrow(c net.Conn, state fasthttp.ConnState) {
	if tcp, ok := c.(interface{ SetWriteBuffer(int) error }); ok && state == fasthttp.StateNew {
		tcp.SetWriteBuffer(sendBuffer)
	}
}

// discard is a logger for what fasthttp says about clients' connections.
type discard struct{}

func (discard) Printf(string, ...any) {}

// guard keeps a handler's panic from ending the process.
func (s *Server) guard(h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		defer func() {
			if p := recover(); p != nil {
				s.panicked(p)
				c.ResetBody()
				s.count.refused(fasthttp.StatusInternalServerError)
				plainProblem(c, fasthttp.StatusInternalServerError, "api_error", "internal error; dyn logs says more")
			}
		}()
		h(c)
	}
}

// panicked counts and logs a panic.
func (s *Server) panicked(p any) {
	s.count.panics.Add(1)
	s.log.Error("panic", "value", p, "stack", string(debug.Stack()))
}

// Serve answers clients on ln until Shutdown. url is what screens show.
func (s *Server) Serve(ln net.Listener, url string) error {
	s.url.Store(&url)
	go s.observe(s.life)
	return s.http.Serve(listening{ln})
}

// ServeControl answers the control socket on ln until Shutdown.
func (s *Server) ServeControl(ln net.Listener) error { return s.control.Serve(ln) }

// Shutdown takes no new connections, lets running turns end until ctx does,
// then ends them and waits until their records are written. The control
// socket is closed last.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	err := s.http.ShutdownWithContext(ctx)
	s.landings(ctx)
	s.kill(errStopping)
	last, cancel := context.WithTimeout(context.Background(), landTime)
	defer cancel()
	s.landings(last) // their last events and rows
	s.control.ShutdownWithContext(ctx)
	return err
}

// landings waits until no turn is on its way, or for ctx: connections of
// HTTP/1.0 streams are not fasthttp's any more.
func (s *Server) landings(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		aloft := false
		s.aloft.Range(func(any, any) bool { aloft = true; return false })
		if !aloft {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// AddModel makes a model known. A model that is already served keeps its
// workers and sessions.
func (s *Server) AddModel(m Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models[m.ID] == nil {
		one := newModel(m, s.ledger.Raw())
		one.recall, one.leases = s.o.Recall, s.leases
		one.turn(s.knobs)
		s.models[m.ID] = one
	}
}

// Update takes a worker that is new or whose state changed; one that is gone
// is forgotten. The model that it serves must have been added.
func (s *Server) Update(w Worker) error {
	info := w.Info()
	if info.State == turn.Gone {
		s.Remove(info.Name)
		return nil
	}
	s.mu.Lock()
	m := s.models[info.Caps.Model]
	if m == nil {
		m = s.byModel[info.Name] // not probed yet, or being restarted
	}
	if m == nil {
		s.mu.Unlock()
		return errors.New("worker " + info.Name + ": nobody serves model " + info.Caps.Model)
	}
	s.byModel[info.Name] = m
	s.mu.Unlock()
	m.update(w)
	if info.State == turn.Ready {
		s.was.Store(true)
	}
	return nil
}

// Remove forgets a worker.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	m := s.byModel[name]
	delete(s.byModel, name)
	s.mu.Unlock()
	if m != nil {
		m.leave(name)
	}
}

// KV takes a worker's KV events, in the order in which the worker sent them.
func (s *Server) KV(b turn.KVBatch) {
	s.mu.Lock()
	m := s.byModel[b.Worker]
	s.mu.Unlock()
	if m == nil || !m.apply(b) {
		s.count.orphans.Add(int64(len(b.Events)))
	}
}

// all returns the models, sorted by id.
func (s *Server) all() []*model {
	s.mu.Lock()
	defer s.mu.Unlock()
	ms := make([]*model, 0, len(s.models))
	for _, m := range s.models {
		ms = append(ms, m)
	}
	sort.Slice(ms, func(i, j int) bool { return ms[i].ID < ms[j].ID })
	return ms
}
