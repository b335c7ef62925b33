package tui

// The smallest frame with panels; below it one line of totals is left.
const (
	smallWidth  = 60
	smallHeight = 16
)

// The narrowest that the three panels of the middle row are drawn.
const (
	queueWidth  = 27
	leasesWidth = 26
	tiersWidth  = 27
)

// middleRows is the least of rows that the middle panels show.
const middleRows = 3

// middleMost is the most of rows that the middle panels get before sessions
// and workers have all they want.
const middleMost = 10

// plan says which panels a frame shows and how large they are. Workers are
// above, queue, leases and tiers beside each other below them, then sessions,
// then latency.
type plan struct {
	heights [panels]int // 0: not shown
	widths  [panels]int
}

// shows reports whether a panel is in the plan.
func (x *plan) shows(p Panel) bool { return x.heights[p] > 0 }

// arrange decides for the given space. Panels leave by priority: tiers,
// leases, queue, latency; workers and sessions last. A panel that is hidden
// leaves its room to the others.
func (p *picture) arrange(width, height int) plan {
	var x plan
	want := func(k Panel) bool { return !p.v.Hidden[k] }
	room := height
	take := func(k Panel, n int) {
		n = min(n, room)
		x.heights[k] += n
		room -= n
	}
	if want(Workers) && room >= 4 {
		take(Workers, 3+min(max(len(p.s.Workers), 1), 4))
	}
	if want(Sessions) && room >= 4 {
		take(Sessions, min(room, 5))
	}
	if want(Latency) && room >= latencyLines {
		take(Latency, latencyLines)
	}
	middle := p.middle3(width, &x)
	if len(middle) > 0 && room >= middleRows+2 {
		take(middle[0], middleRows+2)
	} else {
		middle = nil
	}
	p.spread(&x, middle, take, &room)
	for _, k := range []Panel{Workers, Sessions, Latency} {
		x.widths[k] = width
	}
	for _, k := range []Panel{Queue, Leases, Tiers} {
		if len(middle) == 0 || !has(middle, k) {
			x.heights[k] = 0
			continue
		}
		x.heights[k] = x.heights[middle[0]]
	}
	return x
}

// spread gives the rest of the room away: first to what is cut, then to what
// is only small, then to whoever stands last.
func (p *picture) spread(x *plan, middle []Panel, take func(Panel, int), room *int) {
	upTo := func(k Panel, n int) {
		if x.heights[k] > 0 {
			take(k, max(n-x.heights[k], 0))
		}
	}
	sessions := 3 + len(tree(p.s.Sessions, maxRows))
	upTo(Workers, min(3+len(p.s.Workers), 12))
	upTo(Sessions, min(sessions, 9))
	if x.heights[Latency] == latencyLines && *room >= 4 {
		take(Latency, 2) // its box
	}
	if len(middle) > 0 {
		upTo(middle[0], min(2+p.middleWant(middle), 8))
	}
	upTo(Workers, 3+len(p.s.Workers))
	upTo(Sessions, sessions)
	if len(middle) > 0 {
		upTo(middle[0], 2+min(p.middleWant(middle), middleMost))
	}
	if x.heights[Latency] == latencyLines && *room >= 2 {
		take(Latency, 2)
	}
	for _, k := range []Panel{Sessions, Workers} {
		if x.heights[k] > 0 {
			take(k, *room)
		}
	}
	if len(middle) > 0 {
		take(middle[0], *room)
	}
}

// middleWant is how many rows the largest of the middle panels has.
func (p *picture) middleWant(middle []Panel) int {
	n := middleRows
	for _, k := range middle {
		switch k {
		case Queue:
			n = max(n, len(p.s.Queue.Bands)+len(p.heldRows()))
		case Leases:
			n = max(n, len(p.s.Leases.Live))
		case Tiers:
			n = max(n, len(p.s.Tiers))
		}
	}
	return n
}

// middle3 returns the panels of the middle row that fit beside each other,
// and sets their widths.
func (p *picture) middle3(width int, x *plan) []Panel {
	least := map[Panel]int{Queue: queueWidth, Leases: leasesWidth, Tiers: tiersWidth}
	var all []Panel
	sum := 0
	for _, k := range []Panel{Queue, Leases, Tiers} {
		if p.v.Hidden[k] || sum+least[k] > width {
			continue
		}
		all, sum = append(all, k), sum+least[k]
	}
	spare := width - sum
	for i, k := range all {
		more := spare / (len(all) - i)
		x.widths[k] = least[k] + more
		spare -= more
	}
	return all
}

// has reports whether k is in all.
func has(all []Panel, k Panel) bool {
	for _, x := range all {
		if x == k {
			return true
		}
	}
	return false
}
