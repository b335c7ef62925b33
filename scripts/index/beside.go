package main

import "fmt"

// names of the indexes, as their programs call them.
var names = map[string]string{"dyn": "dyn", "crtc": "concurrent compressed tree", "pos": "positional", "radix": "radix tree"}

// key is one case of one index.
type key struct {
	index          string
	holders, event int
	what           string
}

// beside prints the index and the peer's, case by case.
func (p *page) beside() {
	p.put("\n## Side by side\n")
	if p.peer == "" {
		p.put("The peer was not measured in this run: `make bench-index` said why.")
		return
	}
	p.put("%s, and this index with the same keys in the same run, each case a process of its own: conversations of 2,048 blocks, each held", p.peer)
	p.put("by so many of 64 workers. *dyn ×* is how many times better dyn is: where it loses, that is below 1 and bold. The peer's indexes take")
	p.put("events over a queue, as in its product, so processor time stands beside the rate. Bytes are what the system counts for the process.")
	p.put("Who makes keys of a prompt's own blocks, and when, differs: neither's times have it in them.\n")
	by, blocks := map[key][]line{}, 0
	var stores, finds []key // of dyn, in order
	for _, l := range p.lines {
		k := key{l.Index, l.Holders, l.Event, l.What}
		if l.Index == "dyn" && len(by[k]) == 0 {
			if l.What == "store" {
				stores = append(stores, k)
			} else {
				finds = append(finds, k)
			}
		}
		by[k] = append(by[k], l)
		blocks = l.Blocks
	}
	p.put("%d distinct blocks, stored:\n", blocks)
	p.table("holders", "blocks an event", "index", "M blocks/s", "dyn ×", "CPU ns a block", "dyn ×", "bytes", "dyn ×")
	for _, k := range stores {
		p.rows(by, k, func(l line) float64 { return l.Rate / 1e6 }, func(l line) float64 { return -l.CPU }, func(l line) float64 { return -l.Bytes })
	}
	p.put("\nand asked for, 2,000 times each:\n")
	p.table("holders", "blocks an event", "question", "index", "p50 ns", "dyn ×", "p99 ns", "dyn ×", "blocks found")
	for _, k := range finds {
		p.rows(by, k, func(l line) float64 { return -l.P50 }, func(l line) float64 { return -l.P99 }, nil)
	}
}

// rows prints a case of dyn and of the others: what each metric gives, less than
// nothing where less is better. A nil one is how many blocks were found.
func (p *page) rows(by map[key][]line, k key, metrics ...func(line) float64) {
	for _, index := range []string{"dyn", "crtc", "pos", "radix"} {
		other := k
		other.index = index
		lines := by[other]
		if len(lines) == 0 {
			continue
		}
		cells := []string{fmt.Sprint(k.holders), fmt.Sprint(k.event)}
		if k.what != "store" {
			cells = append(cells, k.what[len("find: "):])
		}
		cells = append(cells, names[index])
		for _, m := range metrics {
			if m == nil {
				cells = append(cells, figure(lines[0].Match))
				continue
			}
			cells = append(cells, versus(by[k], lines, index == "dyn", m)...)
		}
		p.row(cells...)
	}
}

// versus is a figure of an index, and how many times better dyn's is.
func versus(own, lines []line, self bool, m func(line) float64) []string {
	var mine, theirs figures
	for _, l := range own {
		mine = append(mine, max(m(l), -m(l)))
	}
	less := false
	for _, l := range lines {
		less = m(l) < 0
		theirs = append(theirs, max(m(l), -m(l)))
	}
	if self {
		return []string{theirs.text(), ""}
	}
	times := mine.median() / theirs.median()
	if less {
		times = 1 / times
	}
	return []string{theirs.text(), strong(figure(times), times < 1)}
}
