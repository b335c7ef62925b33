package tui

import "github.com/agentinfer/dyn/ledger/snapshot"

// treeRow is a row of the sessions panel: a session with its lead, or one of
// its other agents.
type treeRow struct {
	session *snapshot.Session
	agent   *snapshot.Agent // nil when the session has no lead
	trail   []bool          // for each level down to this row: siblings follow
	folded  int             // idle agents that this row stands for
}

// key names a row so that a selection can follow it.
func (r treeRow) key() string {
	if len(r.trail) == 0 {
		return r.session.ID
	}
	return r.session.ID + "\x00" + r.agent.ID
}

// maxDepth is how deep the tree is drawn.
const maxDepth = 6

// maxRows is the most rows that a panel is made of.
const maxRows = 10_000

// tree flattens sessions. Where there are more rows than room, agents that
// are idle are folded into their session's row.
func tree(sessions []snapshot.Session, room int) []treeRow {
	rows := make([]treeRow, 0, len(sessions))
	n := 0
	for i := range sessions {
		n += max(len(sessions[i].Agents), 1)
	}
	fold := n > room
	for i := range sessions {
		if len(rows) >= maxRows {
			break
		}
		rows = appendSession(rows, &sessions[i], fold)
	}
	return rows
}

// appendSession adds the rows of one session.
func appendSession(rows []treeRow, s *snapshot.Session, fold bool) []treeRow {
	own := treeRow{session: s}
	rest := s.Agents
	if len(rest) > 0 && lead(&rest[0]) {
		own.agent, rest = &rest[0], rest[1:]
	}
	at := len(rows)
	rows = append(rows, own)
	children := map[string][]*snapshot.Agent{}
	ids := map[string]bool{}
	for i := range rest {
		ids[rest[i].ID] = true
	}
	for i := range rest {
		a := &rest[i]
		if fold && over(a) {
			rows[at].folded++
			continue
		}
		parent := a.Parent
		if !ids[parent] || parent == a.ID {
			parent = ""
		}
		children[parent] = append(children[parent], a)
	}
	if len(children) == 0 {
		return rows
	}
	g := &grower{session: s, children: children, seen: map[*snapshot.Agent]bool{}}
	rows = g.grow(rows, "", nil)
	for i := range rest { // below an agent that was folded, or in a circle
		if a := &rest[i]; !g.seen[a] && !(fold && over(a)) {
			rows = g.add(rows, a, []bool{false})
		}
	}
	return rows
}

// over reports whether nothing is awaited of an agent.
func over(a *snapshot.Agent) bool { return a.State == "idle" || a.State == "done" }

// lead reports whether a is its session's main line.
func lead(a *snapshot.Agent) bool { return a.Parent == "" && (a.ID == "" || a.ID == "main") }

// grower walks one session's agents, each once.
type grower struct {
	session  *snapshot.Session
	children map[string][]*snapshot.Agent
	seen     map[*snapshot.Agent]bool
}

func (g *grower) grow(rows []treeRow, parent string, trail []bool) []treeRow {
	under := g.children[parent]
	for i, a := range under {
		rows = g.add(rows, a, append(trail[:len(trail):len(trail)], i < len(under)-1))
	}
	return rows
}

func (g *grower) add(rows []treeRow, a *snapshot.Agent, trail []bool) []treeRow {
	if g.seen[a] || len(rows) >= maxRows {
		return rows
	}
	g.seen[a] = true
	rows = append(rows, treeRow{session: g.session, agent: a, trail: trail})
	if a.ID == "" {
		return rows
	}
	if len(trail) == maxDepth { // deeper ones stand beside it
		trail = trail[:maxDepth-1]
	}
	return g.grow(rows, a.ID, trail)
}
