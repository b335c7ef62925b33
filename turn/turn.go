package turn

import (
	"encoding/json"
	"time"
)

// Dialect is the API a turn came in.
type Dialect string

// The dialects.
const (
	Chat      Dialect = "chat"      // POST /v1/chat/completions
	Responses Dialect = "responses" // POST /v1/responses
	Messages  Dialect = "messages"  // POST /v1/messages

	Completions Dialect = "completions" // POST /v1/completions: a text or ids, no conversation
)

// Turn is one request of an agent, free of its dialect. A decoder fills it
// once; afterwards it is read only.
type Turn struct {
	ID      string // "t" and 16 hex digits; also the X-Request-Id at the engine
	Arrived time.Time
	Dialect Dialect
	Model   string // as the client named it
	Stream  bool   // the client wants server-sent events

	Messages   []Message // system messages first, then in the client's order
	Tools      []Tool    // hosted tools are already left out
	ToolChoice ToolChoice
	OneCall    bool // at most one call per answer (parallel_tool_calls false)
	Thinking   Thinking
	Format     Format // what form the text of the answer must have

	Sampling  Sampling
	MaxTokens int      // limit on the answer; 0 when the client set none
	Stop      []string // stop strings, never empty ones
	N         int      // chat, completions: answers wanted to each prompt; 0 and 1 are one

	Hints   Hints
	Salt    string // cache_salt: prefixes are shared only within one salt
	Tenant  string // name of the key that the request came with; "" without keys
	Ceiling *int   // of that key: priority and class together count for so much at most; nil is no bound
	Who     Who    // filled by server after decoding

	IncludeUsage bool            // chat: a usage chunk was asked for
	Echo         json.RawMessage // responses: the request's settings to repeat, or nil
	Store        bool            // responses: the answer is to be kept; the API's default is true
	Previous     string          // responses: the response it goes on from; Messages begin with what that held

	Prompts []Prompt // completions: what is to go on, each for itself; no template touches them
	Repeat  bool     // completions: an answer begins with its prompt (echo)
	Best    int      // completions: of N answers, how many are told, the likeliest first; 0 is all
}

// Prompt is what a plain completion goes on from: a text, or ids.
type Prompt struct {
	Text string
	Bare bool     // Text: without the ids that the model's texts begin and end with (add_special_tokens: false)
	IDs  []uint32 // in place of Text
}

// Answers is how many answers are to be made, N to each prompt.
func (t *Turn) Answers() int { return max(t.N, 1) * max(len(t.Prompts), 1) }

// Role says who speaks. Developer messages are system messages.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // results of calls
)

// Message is what one side says in one go. Decoders join what belongs to one
// assistant answer (text, thinking and calls) in one message, and put tool
// results into messages of ToolRole, whatever the dialect does.
type Message struct {
	Role   Role
	Blocks []Block // not written once others have the message too

	key messageKey // of both, where somebody made it
}

// BlockKind tells the kinds of content apart.
type BlockKind uint8

// The kinds of content.
const (
	Text BlockKind = iota
	ThinkingBlock
	ToolUse
	ToolResult
	Image
	Document
	Other // content this version does not know; kept, not rendered
)

// Block is one piece of a message. Which fields count depends on Kind.
type Block struct {
	Kind      BlockKind
	Text      string          // Text, ThinkingBlock; ToolResult: its text, blocks joined
	Signature string          // ThinkingBlock: what the client must send back unchanged
	ID        string          // ToolUse: call id; ToolResult: id of the call it answers
	Name      string          // ToolUse: name of the tool, flat form (see Tool.Name)
	Args      json.RawMessage // ToolUse: arguments, a JSON object as the model wrote it
	IsError   bool            // ToolResult
	Raw       json.RawMessage // Image, Document, Other: the client's JSON
	Refs      []string        // ToolResult: names of deferred tools that it makes known
	Lease     time.Duration   // cache_control on this block asks for this time; 0 is no ask
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string // unique; for a namespaced tool "<namespace>__<name>"
	Namespace   string // responses: the namespace the tool came in, else ""
	Bare        string // the name without namespace; equals Name when there is none
	Description string
	Schema      json.RawMessage // JSON schema of the arguments; nil when the client gave none
	Custom      bool            // responses: free text input instead of JSON arguments
	Deferred    bool            // not shown to the model before a ToolResult's Refs name it
	Strict      bool            // the client wants arguments that follow Schema exactly
	Lease       time.Duration   // cache_control on the tool; 0 is no ask
}

// ToolChoice says whether the model may, must or must not call.
type ToolChoice struct {
	Mode string // "auto", "none", "required" or "named"; "" means auto
	Name string // with "named"
}

// FormatKind tells the forms that the text of an answer may be held to.
type FormatKind uint8

// The forms.
const (
	FreeText   FormatKind = iota
	JSONObject            // any JSON object
	JSONSchema            // JSON by Format.Schema
)

// Format is what form the text of an answer must have (response_format,
// text.format, output_config.format).
type Format struct {
	Kind   FormatKind
	Name   string          // the client's name of the schema
	Schema json.RawMessage // with JSONSchema
	Strict bool
}

// Thinking is what the client says about reasoning.
type Thinking struct {
	Mode    string // "on", "off" or "" for the model's own default
	Effort  string // "low", "medium", "high" …; "" when unsaid
	Omitted bool   // messages: display "omitted": blocks open and close empty
}

// Sampling holds what the client said about sampling; nil is unsaid.
type Sampling struct {
	Temperature *float64
	TopP        *float64
	TopK        *int
	Seed        *int64
	Presence    *float64
	Frequency   *float64
	MinP        *float64
	Repetition  *float64        // repetition_penalty
	MinTokens   int             // no stop before so many tokens
	StopIDs     []uint32        // stop_token_ids, besides the model's own
	IgnoreEnd   bool            // ignore_eos
	Bias        json.RawMessage // logit_bias as the client wrote it, an object, or nil
	Logprobs    bool            // the answer tells the log probability of each token
	TopLogprobs int             // and of so many alternatives
	KeepStop    bool            // include_stop_str_in_output: the client's stop that was met is part of the text
}

// Hints are what the harness knows and tells, in the nvext object of the body
// or in headers. The zero value is no hint.
type Hints struct {
	Priority int           // higher is more important; seconds of earlier arrival
	Strict   int           // the band; higher first, always
	Batch    bool          // latency_class "batch"
	Lease    time.Duration // nvext.cache_control: keep the whole prompt; 0 is no ask
	Retain   []Retain      // nvext.retention: what of the prompt is worth how much, and for how long
	OSL      int           // tokens the answer is expected to have; 0 is unsaid

	Prefill   bool          // speculative_prefill: the next prompt may be prepared while tools run
	State     string        // agent_state, as the harness calls it
	TurnsLeft int           // turns the agent expects to need after this one; 0 is unsaid, as none left is Final
	ToolETA   time.Duration // tool_eta_ms: how long the tools will take; 0 is unsaid
	Final     bool          // session_final: nothing comes after this turn
	Ephemeral bool          // nobody asks for what the agent computes once it has said its last word
	Worker    string        // the worker it must run at; "" is any
	Booking   string        // by which id it was booked beforehand; "" is none
	Extra     []string      // extra_fields: what the answer's nvext is to tell
	Annotate  []string      // annotations that the answer is to bring: those of which there are some
	Query     bool          // annotation query_instance_id: where would it run? nothing is made
	Route     Overrides     // what the router is to do otherwise than its settings say
	Unknown   []string      // hints that this version does not know, ignored
	Exactly   bool          // strict: what cannot be done as asked is an error, no warning
}

// Retain says what a part of a prompt, or of its answer, is worth to keep.
type Retain struct {
	Where    string // "system", "tools", "history", "reasoning", "output" or "tokens"
	From, To int    // with "tokens": of the prompt, To left out
	Priority int    // 0 to 100; 50 is what a cache_control asks for
	For      time.Duration
}

// Overrides are the settings of the router that a turn sets for itself. What
// is "" or nil it leaves as it is.
type Overrides struct {
	Strategy      string   // by its name
	Temperature   *float64 // of the choice: 0 is the best worker, always
	PrefillWeight *float64 // of prompt tokens that a worker has to compute
	OverlapCredit *float64 // share of the tokens it holds that counts
}

// Any reports whether a turn sets anything.
func (o Overrides) Any() bool { return o != Overrides{} }

// Who tells whose turn this is.
type Who struct {
	Harness string // "claude-code", "codex", "opencode" …; "" when unknown
	Session string
	Agent   string // "main" for the lead
	Parent  string // agent that started this one; "" for the lead
	Kind    string // "turn", "compaction", "title", "probe" …
}

// Lead reports whether the turn is the session's main line.
func (w Who) Lead() bool { return w.Agent == "" || w.Agent == "main" }
