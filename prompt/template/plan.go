package template

import (
	"slices"
	"unsafe"

	"github.com/agentinfer/dyn/turn"
)

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
	row    []piece // results of the message at hand
	after  []stage // of each message
}

// stage is how long a plan is after a message.
type stage struct{ pieces, items, images int32 }

// make fills the plan for the messages of a turn. What it holds of the first
// same messages stays. It returns how many of the first items are as they were.
func (p *plan) make(c *calls, f *facts, same int) (kept int) {
	ms := c.ms
	kept = p.cut(same)
	p.pieces, p.items = slices.Grow(p.pieces, len(ms)-same), slices.Grow(p.items, len(ms)-same)
	p.after = slices.Grow(p.after, len(ms)-same)
	for i := same; i < len(ms); i++ {
		m := &ms[i]
		for j := range m.Blocks {
			if k := m.Blocks[j].Kind; k == turn.Image || k == turn.Document {
				p.images++
			}
		}
		switch m.Role {
		case turn.ToolRole:
			p.results(c, i, f)
		case turn.Assistant:
			p.answer(i, m, f)
		case turn.System:
			p.system(i, m, f)
		default:
			p.add(turn.User, piece{i, 0, len(m.Blocks)}, f)
		}
		p.after = append(p.after, stage{int32(len(p.pieces)), int32(len(p.items)), int32(p.images)})
	}
	return kept
}

// cut leaves what the plan holds of the first messages. The last item may have
// held more, or get more: it does not count as kept.
func (p *plan) cut(same int) (kept int) {
	var s stage
	if same > 0 {
		s = p.after[same-1]
	}
	p.after = p.after[:same]
	p.pieces, p.items, p.images = p.pieces[:s.pieces], p.items[:s.items], int(s.images)
	if s.items == 0 {
		return 0
	}
	last := &p.items[s.items-1]
	last.to = min(last.to, int(s.pieces))
	return int(s.items) - 1
}

// bytes is how much memory the plan holds.
func (p *plan) bytes() int {
	return cap(p.pieces)*int(unsafe.Sizeof(piece{})) + cap(p.items)*int(unsafe.Sizeof(item{})) + cap(p.after)*int(unsafe.Sizeof(stage{}))
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
func (p *plan) results(c *calls, i int, f *facts) {
	role, blocks := turn.ToolRole, c.ms[i].Blocks
	if !f.results {
		role = turn.User
	}
	p.row = p.row[:0]
	from := 0
	for j := 1; j <= len(blocks); j++ {
		if j == len(blocks) || blocks[j].Kind == turn.ToolResult {
			p.row = append(p.row, piece{i, from, j})
			from = j
		}
	}
	p.sort(c, i)
	for _, x := range p.row {
		p.add(role, x, f)
	}
}

// sort puts results in the order of their calls, which is all that tells
// them apart where a template prints no ids. Clients send them in any order.
// Where one answers no call of the answer before, they stay.
func (p *plan) sort(c *calls, i int) {
	if len(p.row) < 2 || i == 0 || c.ms[i-1].Role != turn.Assistant {
		return
	}
	call := func(x piece) int {
		res := &c.ms[i].Blocks[x.from]
		if res.Kind != turn.ToolResult {
			return -1
		}
		return c.index(i-1, res.ID)
	}
	for _, x := range p.row {
		if call(x) < 0 {
			return
		}
	}
	slices.SortStableFunc(p.row, func(a, b piece) int { return call(a) - call(b) })
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
