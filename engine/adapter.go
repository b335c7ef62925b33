package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

// Adapter is what differs between kinds of engines. It is safe for concurrent
// use and keeps nothing between calls.
type Adapter interface {
	// Name is the word by which recipes ask for this adapter.
	Name() string
	// Launch is the command line of one worker. It starts nothing.
	Launch(s Spec, at Place) (Launch, error)
	// Open makes a client for a running server; it does not connect yet.
	Open(at Endpoint) Client
}

// Adviser is an Adapter that can read the last words of its engine.
type Adviser interface {
	// Advise reads the last log lines of a server that ended before its first
	// token, oldest first.
	Advise(log []string) Advice
}

// Advice is what can be done about a server that ended.
type Advice struct {
	Try     string   // by a person; "" is nothing that is known
	Without []string // flags that it does not know and can do without
}

// Client talks to one running server. It is safe for concurrent use.
type Client interface {
	// Health reports whether the server says that it lives.
	Health(ctx context.Context) error
	// Probe takes one real token from the server and reports what was seen
	// on the way. Before the server can serve, its error is in the chain of
	// turn.ErrLost.
	Probe(ctx context.Context) (Seen, error)
	// Generate starts an answer. Its error, and the stream's, is a
	// *turn.Refused when the request is at fault, and in the chain of
	// turn.ErrLost when another worker should be tried.
	Generate(ctx context.Context, j turn.Job) (turn.Stream, error)
	// Load reads how the server fares now.
	Load(ctx context.Context) (turn.Load, error)
	// Close drops idle connections. Open streams go on.
	Close()
}

// Mirror is a Client of a server that tells nothing of its cache, where what
// it holds follows from what was sent and what came back.
type Mirror interface {
	// Mirror calls f with each change of what the server holds, in order, from
	// its state now on, until ctx ends. It is called once in a client's life; f
	// is called by one goroutine at a time.
	Mirror(ctx context.Context, f func([]turn.KVEvent))
}

// Relearner is a Client of a server that can be asked to tell again what it
// holds.
type Relearner interface {
	// Relearn has the server announce the cached blocks that turns use from now
	// on, for a while, since their first announcement was lost.
	Relearn()
}

// Renderer is a Client of a server that shows what it makes of a conversation.
type Renderer interface {
	// Render returns the server's own prompt for a turn, after prompt.Steady,
	// to be answered. switches are the variables of its chat template, see
	// template.Switches; nil is none. The error is in the chain of
	// errors.ErrUnsupported when this server does not show it, and a
	// *turn.Refused when it does not take the conversation.
	Render(ctx context.Context, t *turn.Turn, switches json.RawMessage) (Rendered, error)
}

// Rendered is a prompt as a server makes it. One of the two may be missing.
// IDs are all that the model is given, a leading BOS included; Text may be
// without.
type Rendered struct {
	Text string
	IDs  []uint32
}

// Endpoint says where a server is, and what is known of it that it does not
// tell.
type Endpoint struct {
	URL      string   // http://127.0.0.1:8101, or unix:///path.sock
	Key      string   // "" when it wants none
	ModelDir string   // its tokenizer; "" is not known
	Args     []string // its command line; nil when dyn did not launch it
	Vision   bool     // the recipe of one that dyn launched says that it sees images
}

// Seen is what a probe saw.
type Seen struct {
	Caps   turn.Capabilities
	Events string // tcp://host:port of KV events; "" when there are none
	Replay string // tcp://host:port where lost events can be asked for
}

// Spec says what to launch. The zero value of a field is the recipe's.
type Spec struct {
	Name     string // "w0"; "" is the next free name
	Recipe   *recipes.Recipe
	Flags    map[string]string // over the recipe's; "false" takes a flag away
	ModelDir string
	GPUs     []int
	Workers  int // of the same recipe on this machine, this one among them; 0 is 1

	Program []string // the engine's command for {engine}, program first; see package engine/install
	Env     []string // that it wants in its environment

	without []string // flags of the adapter's own that the server turned out not to know
}

// Place is what the fleet chose for one life of a worker.
type Place struct {
	Self string // path of this program, for {self}
	Port int    // free on loopback a moment ago
	Key  string // the key that the server shall ask for

	// Events is where the fleet listens for KV events of an engine that
	// connects to its reader, tcp://127.0.0.1:port; "" when it does not.
	Events string

	// Dir is an empty folder for this life's files, gone after it; "" in a
	// plan.
	Dir string
}

// Launch is a command line, and what is known of a server that runs with it
// because the server cannot be asked.
type Launch struct {
	Args  []string // program first
	Env   []string // on top of what is let through of this process's; see environment
	Known turn.Capabilities

	TermWait time.Duration // between SIGTERM and SIGKILL; 0 is the fleet's
}
