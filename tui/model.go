package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// model is the program's only state. Update changes it and never waits; what
// waits is a command.
type model struct {
	ctx  context.Context
	feed Feed
	why  Why
	view View

	shot     snapshot.Snapshot
	got      time.Time // when shot came; zero is never
	asking   bool      // a snapshot is under way
	failures int       // since shot came
	trouble  string    // what the last failure said
	wake     int       // number of the tick that counts; others are old

	choice [panels]string // selected row of each panel
	asked  explaining     // what is explained, where something is
}

// tick is the message that time has passed.
type tick struct{ n int }

// answer is the message that a feed returned.
type answer struct {
	shot snapshot.Snapshot
	err  error
}

// patience is how long one call of the feed may take.
const patience = 5 * time.Second

func newModel(ctx context.Context, feed Feed, o Options) *model {
	m := &model{ctx: ctx, feed: feed, why: o.Why}
	m.view = View{
		Width: 80, Height: 24, Color: o.Color, ASCII: o.ASCII,
		Live: true, Period: o.Period, Focus: Workers, Explains: o.Why != nil,
	}
	return m
}

// Init asks for the first snapshot; the first frame does not wait for it.
func (m *model) Init() tea.Cmd { return tea.Batch(m.ask(), m.sleep()) }

// Update is called for every message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.view.Width, m.view.Height = msg.Width, msg.Height
		return m, m.again()
	case tick:
		if msg.n != m.wake {
			return m, nil
		}
		if m.view.Paused {
			return m, m.sleep()
		}
		return m, tea.Batch(m.ask(), m.sleep())
	case tea.ResumeMsg:
		return m, m.ask()
	case answer:
		m.take(msg)
	case explained:
		m.tell(msg)
	case tea.KeyMsg:
		return m, m.typed(msg)
	}
	return m, nil
}

// View draws the frame.
func (m *model) View() string { return Frame(m.shot, m.current()) }

// current is the view at this moment.
func (m *model) current() View {
	v := m.view
	v.Selected = m.choice[v.Focus]
	v.Retries, v.Trouble = m.failures, m.trouble
	if m.got.IsZero() {
		return v
	}
	age := time.Since(m.got)
	v.Now = m.shot.At
	if m.view.Paused {
		return v
	}
	// Ages count on from the daemon's own clock, which may not be ours.
	v.Now = v.Now.Add(age)
	if m.failures > 0 || age > 3*v.Period+time.Second {
		v.Stale = max(age, 1)
	}
	return v
}

// ask fetches a snapshot, unless one is under way.
func (m *model) ask() tea.Cmd {
	if m.asking {
		return nil
	}
	m.asking = true
	ctx, feed := m.ctx, m.feed
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		s, err := feed(ctx)
		return answer{s, err}
	}
}

// sleep sends the next tick. Only the newest one counts.
func (m *model) sleep() tea.Cmd {
	m.wake++
	n := m.wake
	return tea.Tick(m.view.Period, func(time.Time) tea.Msg { return tick{n} })
}

// take keeps a snapshot, or what went wrong instead. While the picture is
// stopped an answer that was under way is too late.
func (m *model) take(a answer) {
	m.asking = false
	if a.err != nil {
		m.failures++
		m.trouble = a.err.Error()
		return
	}
	m.failures, m.trouble = 0, ""
	if m.view.Paused && !m.got.IsZero() {
		return
	}
	m.shot, m.got = a.shot, time.Now()
	if m.shot.V == 0 {
		m.shot.V = 1 // a feed that answers has a daemon
	}
}
