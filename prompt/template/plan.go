package template

import "github.com/agentinfer/dyn/turn"

// piece is a run of blocks of one message of a turn.
type piece struct{ message, from, to int }

// item is one message as the template gets it, made of one or more pieces.
type item struct {
	role     turn.Role
	from, to int  // pieces
	text     bool // holds what is no call
	lo, hi   int  // the calls that it holds, by their number in the pieces
}

// all is a number that no message's calls reach.
const all = 1 << 30

// plan is how a turn's messages become a template's.
type plan struct {
	pieces []piece
	items  []item
	images int
}

// make fills the plan for the messages of a turn, reusing its slices.
func (p *plan) make(ms []turn.Message, f *facts) {
	p.pieces, p.items, p.images = p.pieces[:0], p.items[:0], 0
	for i := range ms {
		m := &ms[i]
		for j := range m.Blocks {
			if k := m.Blocks[j].Kind; k == turn.Image || k == turn.Document {
				p.images++
			}
		}
		switch m.Role {
		case turn.ToolRole:
			p.results(i, m, f)
		case turn.Assistant:
			p.answer(i, m, f)
		case turn.System:
			p.system(i, m, f)
		default:
			p.add(turn.User, piece{i, 0, len(m.Blocks)}, f)
		}
	}
}

// system adds a system message, as the user's where the template takes none
// there.
func (p *plan) system(i int, m *turn.Message, f *facts) {
	role := turn.System
	leading := len(p.items) == 0 || p.items[len(p.items)-1].role == turn.System
	if leading && !f.system || !leading && !f.midSystem {
		role = turn.User
	}
	p.add(role, piece{i, 0, len(m.Blocks)}, f)
}

// add adds a piece as an item, or to the last one where the template would
// refuse it apart.
func (p *plan) add(role turn.Role, x piece, f *facts) {
	p.pieces = append(p.pieces, x)
	if n := len(p.items); n > 0 && f.joined(p.items[n-1].role, role) {
		p.items[n-1].to = len(p.pieces)
		return
	}
	p.items = append(p.items, item{role, len(p.pieces) - 1, len(p.pieces), true, 0, all})
}

// results adds the results of a message one by one, each with what follows
// it; what stands before the first is its own.
func (p *plan) results(i int, m *turn.Message, f *facts) {
	role := turn.ToolRole
	if !f.results {
		role = turn.User
	}
	from := 0
	for j := 1; j <= len(m.Blocks); j++ {
		if j == len(m.Blocks) || m.Blocks[j].Kind == turn.ToolResult {
			p.add(role, piece{i, from, j}, f)
			from = j
		}
	}
}

// answer adds what the assistant said, in several items where the template
// would lose or refuse part of it.
func (p *plan) answer(i int, m *turn.Message, f *facts) {
	text, calls := false, 0
	for j := range m.Blocks {
		switch b := &m.Blocks[j]; b.Kind {
		case turn.ToolUse:
			calls++
		case turn.ThinkingBlock:
		default:
			s, _ := shown(b)
			text = text || s != ""
		}
	}
	x := piece{i, 0, len(m.Blocks)}
	apart := calls > 0 && text && f.callsApart
	single := calls > 1 && f.oneCall
	if !apart && !single {
		p.add(turn.Assistant, x, f)
		return
	}
	p.pieces = append(p.pieces, x)
	n := len(p.pieces)
	put := func(text bool, lo, hi int) {
		p.items = append(p.items, item{turn.Assistant, n - 1, n, text, lo, hi})
	}
	if apart {
		put(true, 0, 0)
	}
	if !single {
		put(false, 0, all)
		return
	}
	for k := range calls {
		put(!apart && k == 0, k, k+1)
	}
}
