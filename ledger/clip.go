package ledger

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The most bytes of text that a row keeps.
const (
	maxName     = 256     // names and ids
	maxText     = 4 << 10 // errors and details
	maxDecision = 64 << 10
	maxBreak    = 8 << 10
)

// row is what the queue holds: a Turn, Lease, AgentEvent or WorkerEvent, content, or the
// word that some of it is to go.
type row interface {
	size() int64 // about what it takes in memory
	kind() kind
}

// kind tells what is lost when a row is.
type kind int

// The kinds of rows.
const (
	books     kind = iota // what happened
	rawTurns              // content
	responses             // content
	kinds                 // how many there are
)

func (t *Turn) size() int64        { return int64(1024 + len(t.Decision) + len(t.Error) + len(t.Break)) }
func (x *Lease) size() int64       { return 512 }
func (e *AgentEvent) size() int64  { return int64(512 + len(e.Detail)) }
func (e *WorkerEvent) size() int64 { return int64(512 + len(e.Detail)) }

func (*Turn) kind() kind        { return books }
func (*Lease) kind() kind       { return books }
func (*AgentEvent) kind() kind  { return books }
func (*WorkerEvent) kind() kind { return books }

// clipTurn cuts a turn's text.
func clipTurn(t *Turn) {
	for _, s := range []*string{
		&t.ID, &t.Dialect, &t.Harness, &t.Session, &t.Agent,
		&t.Parent, &t.Kind, &t.Model, &t.Class, &t.Worker, &t.Outcome, &t.Tenant, &t.Format,
	} {
		*s = clip(*s, maxName)
	}
	t.Error = clip(t.Error, maxText)
	if len(t.Decision) > maxDecision { // half a JSON document is none
		t.Decision = fmt.Sprintf(`{"omitted_bytes":%d}`, len(t.Decision))
	}
	if len(t.Break) > maxBreak {
		t.Break = fmt.Sprintf(`{"omitted_bytes":%d}`, len(t.Break))
	}
}

// clipLease returns x as a row, its text cut.
func clipLease(x Lease) *Lease {
	for _, s := range []*string{&x.ID, &x.Turn, &x.Session, &x.Agent, &x.Model, &x.State, &x.Tenant, &x.Worker, &x.Source, &x.Why} {
		*s = clip(*s, maxName)
	}
	return &x
}

// clipAgent returns e as a row, its text cut.
func clipAgent(e AgentEvent) *AgentEvent {
	for _, s := range []*string{&e.Session, &e.Agent, &e.Model, &e.Event, &e.Tool, &e.Source} {
		*s = clip(*s, maxName)
	}
	e.Detail = clip(e.Detail, maxText)
	return &e
}

// clipWorker returns e as a row, its text cut.
func clipWorker(e WorkerEvent) *WorkerEvent {
	for _, s := range []*string{&e.Worker, &e.Model, &e.URL, &e.Event} {
		*s = clip(*s, maxName)
	}
	e.Detail = clip(e.Detail, maxText)
	return &e
}

// clip cuts s to n bytes at the start of a character and makes it valid
// UTF-8. What it cuts does not share memory with s.
func clip(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = strings.Clone(s[:n])
	}
	if utf8.ValidString(s) { // in a fraction of the time
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
