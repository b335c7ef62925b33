package tui

import "slices"

// hint is a key and what it does.
type hint struct{ key, does string }

// hints returns the keys that work in this picture, the most useful first.
func (p *picture) hints() []hint {
	switch {
	case p.v.Help:
		return []hint{{"esc", "back"}, {"q", "quit"}}
	case p.s.V == 0:
		return []hint{{"q", "quit"}, {"?", "keys"}}
	case p.v.Explained != "":
		return []hint{{p.g.updown, "move"}, {"esc", "back"}, {"?", "keys"}, {"q", "quit"}}
	}
	var all []hint
	if len(p.keys(p.v.Focus)) > 1 {
		all = append(all, hint{p.g.updown, "move"})
	}
	if p.v.Explains && len(p.s.Sessions) > 0 {
		all = append(all, hint{"w", "why"})
	}
	if p.v.Zoom != NoPanel {
		all = append(all, hint{"esc", "back"}, hint{"tab", "next panel"})
	} else {
		all = append(all, hint{"tab", "next panel"}, hint{"1-6", "show or hide"}, hint{"z", "zoom"})
	}
	pause := hint{"space", "pause"}
	if p.v.Paused {
		pause.does = "go on"
	}
	return append(all, pause, hint{"+-", "rate"}, hint{"?", "keys"}, hint{"q", "quit"})
}

// keyLine is the last line: the keys that work here. A picture that does not
// go on has none.
func (p *picture) keyLine() []line {
	if !p.v.Live {
		return nil
	}
	all := p.hints()
	for {
		l := line{}
		for i, k := range all {
			if i > 0 {
				l = append(l, span{"  ", plain})
			} else {
				l = append(l, span{" ", plain})
			}
			l = append(l, span{k.key, accent}, span{" " + k.does, muted})
		}
		if l.width() <= p.v.Width || len(all) <= 2 {
			return []line{p.fit(l, p.v.Width, left)}
		}
		all = append(all[:len(all)-3], all[len(all)-2:]...) // keys and quit stay
	}
}

// help is all keys, with what they do.
func (p *picture) help(w, h int) []line {
	rows := []line{nil}
	keys := []hint{
		{p.g.updown + " j k", "select the next or previous row"},
		{"g G", "select the first or last row"},
		{"pgup pgdn", "ten rows up or down"},
		{"tab shift-tab", "next or previous panel"},
		{"1-6", "show or hide a panel;"},
		{"", "one without room is shown alone"},
		{"z", "this panel alone, or all again"},
		{"w", "why the selected session's last turn went so"},
		{"space", "stop the picture, or go on"},
		{"+ -", "ask more or less often, 0.5 to 10 s"},
		{"ctrl-z ctrl-l", "back to the shell until fg; draw anew"},
		{"esc", "one step back, then quit"},
		{"q ctrl-c", "quit; the daemon goes on"},
	}
	if !p.v.Explains {
		keys = slices.DeleteFunc(keys, func(k hint) bool { return k.key == "w" })
	}
	for _, k := range keys {
		rows = append(rows, join(blank(2), p.fit(say(k.key, accent), 16, left), say(k.does, plain)))
	}
	return p.draw(box{title: "keys", width: w, height: h, rows: rows})
}
