package curve

import "github.com/agentinfer/dyn/replay/trace"

// line is a session whose turns are put into the tree.
type line struct {
	prompt *node // where the contents of its last turn end
}

// turn puts a turn in: where its whole blocks of prompt end, and where those of
// prompt and answer do. The answer is the start of what the next turn adds, if
// that goes on from this one; else nobody asks for it again.
func (l *line) turn(t *tree, s *trace.Session, i int) [2]*node {
	u := &s.Turns[i]
	at := t.root
	if l.prompt != nil {
		at = t.at(l.prompt, u.Keep)
	}
	l.prompt = t.add(at, solid(u.Runs))
	asked := t.at(l.prompt, min(u.Prompt/t.block, l.prompt.end()))
	blocks := (u.Prompt+u.Output-1)/t.block - asked.end()
	if blocks <= 0 {
		return [2]*node{asked, asked}
	}
	if i+1 < len(s.Turns) && s.Turns[i+1].Keep >= asked.end() {
		next := &s.Turns[i+1]
		kept := next.Keep - asked.end() // of a last block that was not full
		if kept >= blocks {
			return [2]*node{asked, t.at(l.prompt, asked.end()+blocks)}
		}
		return [2]*node{asked, t.add(t.at(l.prompt, next.Keep), first(solid(next.Runs), blocks-kept))}
	}
	t.fresh -= uint64(blocks)
	return [2]*node{asked, t.hang(asked, []trace.Run{{First: t.fresh, N: blocks}})}
}

// solid is a row without empty parts.
func solid(parts []trace.Run) []trace.Run {
	for i, p := range parts {
		if p.N > 0 {
			continue
		}
		out := append([]trace.Run(nil), parts[:i]...)
		for _, q := range parts[i+1:] {
			if q.N > 0 {
				out = append(out, q)
			}
		}
		return out
	}
	return parts
}
