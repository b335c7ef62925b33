package tui

// start is the picture while there is nothing to show: how to begin.
func (p *picture) start(w, h int) []line {
	words := []line{
		nil,
		say("  nothing runs here yet", plain),
		nil,
		join(say("  dyn up", accent), say("        start what fits this machine", muted)),
		join(say("  dyn up sim", accent), say("    start simulated workers, no GPU needed", muted)),
		join(say("  dyn claude", accent), say("    then start Claude Code on it", muted)),
	}
	if p.v.Live && p.v.Trouble == "" {
		words[1] = say("  asking the daemon", muted)
	}
	if p.v.Trouble != "" {
		words = append(words, nil, say("  "+p.clean(p.v.Trouble), muted))
	}
	if p.v.Live {
		words = append(words, nil, say("  the picture comes by itself once the daemon answers", muted))
	}
	lines := make([]line, 0, h)
	for i := range h {
		if i < len(words) {
			lines = append(lines, p.fit(words[i], w, left))
		} else {
			lines = append(lines, blank(w))
		}
	}
	return lines
}
