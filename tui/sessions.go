package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// sessionColumns are the columns of the sessions panel.
func (p *picture) sessionColumns() []column[treeRow] {
	// of makes a cell from a row's agent; a row without one is unknown.
	of := func(f func(a *snapshot.Agent) line) func(treeRow, int) line {
		return func(r treeRow, _ int) line {
			if r.agent == nil {
				return say(p.g.unknown, muted)
			}
			return f(r.agent)
		}
	}
	text := func(f func(a *snapshot.Agent) string) func(treeRow, int) line {
		return of(func(a *snapshot.Agent) line { return say(f(a), plain) })
	}
	return []column[treeRow]{
		col("SESSION / AGENT", 16, 60, left, 0, p.treeName),
		col("STATE", 9, 10, left, 0, of(p.agentState)),
		col("WORKER", 6, 10, left, 0, func(r treeRow, n int) line { return p.agentWorker(r, n) }),
		col("CONTEXT", 7, 7, right, 15, text(func(a *snapshot.Agent) string { return p.known(a.Context) })),
		col("OVERLAP", 7, 7, right, 0, of(func(a *snapshot.Agent) line {
			return say(p.share(a.Overlap), agentPair(a))
		})),
		col("HIT", 5, 5, right, 13, of(func(a *snapshot.Agent) line {
			return p.marked(p.percent(optional(a.Hit), 0), agentPair(a))
		})),
		col("LEASE", 5, 5, right, 12, text(func(a *snapshot.Agent) string { return p.seconds(a.LeaseS) })),
		col("TURNS", 5, 5, right, 11, text(func(a *snapshot.Agent) string { return p.count(float64(a.Turns)) })),
		col("TTFT", 5, 5, right, 10, text(func(a *snapshot.Agent) string { return p.millis(a.TTFTMS) })),
		col("LAST", 5, 5, right, 14, func(r treeRow, _ int) line {
			if r.agent == nil {
				return say(p.ago(r.session.LastSeen), muted)
			}
			return say(p.ago(r.agent.LastSeen), muted)
		}),
	}
}

// sessionsPanel draws sessions and, below each, its agents.
func (p *picture) sessionsPanel(width, height int) []line {
	t := newTable(p.brush, width-2, p.sessionColumns())
	rows := tree(p.s.Sessions, height-3)
	x := box{panel: Sessions, title: "sessions", width: width, height: height}
	x.rows = append(x.rows, t.heads())
	at := p.at(Sessions)
	from, to := window(len(rows), height-3, at)
	for i := from; i < to; i++ {
		l := t.row(rows[i])
		if p.v.Focus == Sessions && i == at {
			l = p.pick(l)
			x.foot = p.sessionFoot(rows[i])
		}
		x.rows = append(x.rows, l)
	}
	if len(rows) == 0 {
		x.rows[0] = say(" no turns yet", muted)
	}
	agents := 0
	for _, s := range p.s.Sessions {
		agents += len(s.Agents)
	}
	words := plural(len(p.s.Sessions), "session", "sessions") + " " + p.g.dot + " " + plural(agents, "agent", "agents")
	if cut := len(rows) - (to - from); cut > 0 {
		words += fmt.Sprintf(" %s %d not shown", p.g.dot, cut)
	}
	if t := p.s.Totals; t.Gone > 0 && t.Context > 0 {
		words += fmt.Sprintf(" %s %.0f %% ephemeral", p.g.dot, 100*float64(t.Gone)/float64(t.Context))
	}
	x.right = say(words, muted)
	return p.draw(x)
}

// treeName is the first cell of a row: a session and its harness, or an agent
// in its tree.
func (p *picture) treeName(r treeRow, n int) line {
	if len(r.trail) > 0 {
		indent := "  "
		for _, more := range r.trail[:len(r.trail)-1] {
			indent += map[bool]string{true: p.g.down + " ", false: "  "}[more]
		}
		sign := p.g.last
		if r.trail[len(r.trail)-1] {
			sign = p.g.branch
		}
		room := max(n-width(indent)-2, 4)
		return line{{indent + sign + " ", muted}, {p.middle(p.clean(r.agent.ID), room), plain}}
	}
	sign := p.g.open
	switch {
	case r.folded > 0:
		sign = p.g.folded
	case r.agent == nil && len(r.session.Agents) == 0, r.agent != nil && len(r.session.Agents) == 1:
		sign = " " // nobody below it
	}
	tail := ""
	if r.folded > 0 {
		tail = fmt.Sprintf(" +%d idle", r.folded)
	}
	id := p.short(r.session.ID)
	harness := p.clean(r.session.Harness)
	if room := n - 2 - width(id) - 1 - width(tail); room >= 4 && harness != "" {
		id += " " + p.brief(harness, room)
	}
	return line{{sign + " ", muted}, {id, plain}, {tail, muted}}
}

// brief is a program's name in n cells: claude for claude-code where that
// says it.
func (p *picture) brief(name string, n int) string {
	if first, _, ok := strings.Cut(name, "-"); ok && width(name) > n && first != "" && width(first) <= n {
		return first
	}
	return p.middle(name, n)
}

// short is a name that is long only to be unique: its beginning. A UUID of
// version 7 begins with the time, which sessions of one minute share; of it
// the end is shown.
func (p *picture) short(id string) string {
	id = p.clean(id)
	switch {
	case width(id) <= 12:
		return id
	case len(id) == 36 && id[14] == '7' && id[8] == '-' && id[13] == '-':
		return p.g.more + cutLeft(id, 7)
	}
	return cut(id, 8)
}

// agentState is what an agent does now.
func (p *picture) agentState(a *snapshot.Agent) line {
	switch a.State {
	case "streaming":
		return say(a.State, good)
	case "prefill":
		return say(a.State, info)
	case "waiting":
		return say(a.State, warn)
	case "tool":
		return say(p.middle("tool "+p.clean(a.Tool), 10), plain)
	case "idle", "done":
		return say(a.State, muted)
	}
	return say(p.middle(p.clean(a.State), 9), plain)
}

func (p *picture) agentWorker(r treeRow, n int) line {
	if r.agent == nil || r.agent.Worker == "" {
		return say(p.g.unknown, muted)
	}
	return say(p.middle(p.clean(r.agent.Worker), n), plain)
}

// rests reports whether an agent has no turn.
func rests(a *snapshot.Agent) bool {
	return a.State != "waiting" && a.State != "prefill" && a.State != "streaming"
}

// agentPair is what overlap and hit of an agent's last turn look like. While
// the next turn runs they belong to different turns and say nothing.
func agentPair(a *snapshot.Agent) meaning {
	if rests(a) && parted(nil, a.Overlap, a.Hit) {
		return warn
	}
	return plain
}

// sessionFoot is what the lower edge tells of the selected row.
func (p *picture) sessionFoot(r treeRow) []string {
	words := []string{p.clean(r.session.ID)}
	if h := p.clean(r.session.Harness); h != "" {
		words = append(words, h)
	}
	if m := p.clean(r.session.Model); m != "" {
		words = append(words, m)
	}
	if r.agent != nil {
		if id := p.clean(r.agent.ID); id != "" {
			words = append(words, id)
		}
		words = append(words, strconv.Itoa(r.agent.Context)+" tokens")
	}
	return words
}
