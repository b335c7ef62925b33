package turn

import (
	"encoding/json"
	"time"
)

// Stored is a response that a client asked to keep (store), so that a later
// turn can go on from it (previous_response_id). It is content: it is kept
// privately and expires.
type Stored struct {
	ID       string
	Tenant   string // who may read it
	Session  string // so that it can be forgotten with it; "" is unknown
	Previous string // the response that it went on from, or ""
	Model    string
	Input    json.RawMessage // the request's own input items, an array
	Document json.RawMessage // the response as the client got it
	At       time.Time
	Expires  time.Time
}

// Key is an API key: who comes with it is a tenant. Limits of 0 are none.
type Key struct {
	Name        string
	Hash        [32]byte // SHA-256 of the secret; the secret itself is not kept
	Salt        string   // prefixes are shared only within one salt
	Requests    int      // per minute
	Tokens      int      // prompt and answer, per minute
	Concurrent  int      // turns at once
	MaxPriority int      // ceiling of Hints.Priority and Hints.Strict, with Capped
	Capped      bool
	Route       bool // may set the router's settings for its own turns
	Created     time.Time
}
