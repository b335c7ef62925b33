package life

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Event is what happened in an agent's life.
type Event string

// The events that notes tell.
const (
	Started      Event = "started"      // a session began, or goes on after a pause or a compaction
	Prompted     Event = "prompted"     // a person spoke, or a task beside told its end
	ToolBegan    Event = "tool"         // one of the last answer's calls runs
	ToolEnded    Event = "tool done"    // and has its result
	AgentBegan   Event = "agent"        // a subagent was started
	AgentEnded   Event = "agent done"   // and is over
	Rested       Event = "rested"       // the agent waits for a person, or for what runs beside it
	CompactBegan Event = "compacting"   // a summary will stand for the conversation
	CompactEnded Event = "compacted"    // and does from the next turn on
	SessionEnded Event = "session done" // nothing of it is wanted any more
)

var events = []Event{
	Started, Prompted, ToolBegan, ToolEnded, AgentBegan, AgentEnded, Rested, CompactBegan, CompactEnded, SessionEnded,
}

// Note is one thing that a harness tells. Session and Agent are its own names,
// those that its turns carry.
type Note struct {
	Event   Event         `json:"event"`
	Session string        `json:"session"`
	Agent   string        `json:"agent,omitempty"`   // "" is the lead
	Tool    string        `json:"tool,omitempty"`    // of ToolBegan and ToolEnded
	Call    string        `json:"call,omitempty"`    // and the id of the call
	Took    time.Duration `json:"took_ns,omitempty"` // of ToolEnded, where the harness tells; 0 is untold
	Beside  int           `json:"beside,omitempty"`  // of Rested: tasks that still run
	Why     string        `json:"why,omitempty"`     // how a session began or ended, who asked for a compaction
}

// Most is how many bytes a note has at most as a datagram, and mostName one of
// its texts.
const (
	Most     = 4096
	mostName = 512
)

// version is of the form of a datagram.
const version = 1

// datagram is a note on its way.
type datagram struct {
	V int `json:"v"`
	Note
}

var errNoNote = errors.New("no note of a hook")

// Append appends the note's datagram. Texts that are too long are cut.
func (n Note) Append(dst []byte) []byte {
	for _, s := range []*string{&n.Session, &n.Agent, &n.Tool, &n.Call, &n.Why} {
		*s = cut(*s)
	}
	b, err := json.Marshal(datagram{version, n})
	if err != nil {
		panic("life: a note of strings and numbers has a JSON form: " + err.Error())
	}
	return append(dst, b...)
}

// Parse reads a datagram. Whoever may write to the socket may send anything, so
// all of it is checked; an error says what is wrong with it.
func Parse(b []byte) (Note, error) {
	var d datagram
	if len(b) > Most {
		return Note{}, fmt.Errorf("%w: more than %d bytes", errNoNote, Most)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return Note{}, fmt.Errorf("%w: %w", errNoNote, err)
	}
	n := d.Note
	switch {
	case d.V != version:
		return Note{}, fmt.Errorf("%w: version %d, want %d", errNoNote, d.V, version)
	case !slices.Contains(events, n.Event):
		return Note{}, fmt.Errorf("%w: event %q is not known", errNoNote, cut(string(n.Event)))
	case n.Session == "":
		return Note{}, fmt.Errorf("%w: it names no session", errNoNote)
	case n.Took < 0 || n.Beside < 0:
		return Note{}, fmt.Errorf("%w: a time or a count below 0", errNoNote)
	}
	for _, s := range []string{n.Session, n.Agent, n.Tool, n.Call, n.Why} {
		if len(s) > mostName {
			return Note{}, fmt.Errorf("%w: a name of %d bytes", errNoNote, len(s))
		}
	}
	return n, nil
}

// cut is s, not longer than a name may be.
func cut(s string) string {
	if len(s) <= mostName {
		return s
	}
	n := mostName
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
