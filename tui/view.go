package tui

import (
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// Panel is one of the dashboard's panels; its number is its key.
type Panel int

// The panels. NoPanel is the zero value.
const (
	NoPanel Panel = iota
	Workers
	Queue
	Leases
	Tiers
	Sessions
	Latency
	panels // one more than the last
)

// Color says which colours a frame may use.
type Color int

// The kinds of colour. Sixteen are the terminal's own, which suit its
// background whatever that is.
const (
	NoColor Color = iota
	Sixteen
)

// View is all that a frame depends on besides its snapshot. The zero value is
// 80 cells wide, as high as it takes, without colour and without keys: what
// a pipe wants.
type View struct {
	Width  int // cells; 0 is 80
	Height int // lines; 0 is as many as it takes
	Color  Color
	ASCII  bool // no sign outside of ASCII, for fonts without blocks

	// Now is the time that ages are counted to; zero is the snapshot's.
	Now time.Time

	// Live shows what belongs to a screen that goes on: keys, rate, focus.
	Live   bool
	Period time.Duration // between snapshots
	Paused bool

	// Stale is how old the snapshot is when no new one comes, Retries how
	// often one was asked for since, Trouble the last answer.
	Stale   time.Duration
	Retries int
	Trouble string

	Focus    Panel
	Selected string // key of the focused panel's selected row; "" is the first
	Zoom     Panel  // this panel alone
	Hidden   [panels]bool
	Help     bool

	// Explains says that w explains the selected turn; Explained is what is told
	// of it, from which line on, and whose it is.
	Explains      bool
	Explained     string
	ExplainedFrom int
	ExplainedOf   string
}

// filled returns v with its defaults for s.
func (v View) filled(s *snapshot.Snapshot) View {
	if v.Width <= 0 {
		v.Width = 80
	}
	v.Width = min(v.Width, maxWidth)
	v.Height = min(v.Height, maxHeight)
	if v.Now.IsZero() {
		v.Now = s.At
	}
	if !v.Live {
		v.Focus, v.Selected = NoPanel, ""
	}
	return v
}

// The largest frame that is drawn; a terminal that claims more gets this.
const (
	maxWidth  = 1000
	maxHeight = 1000
)
