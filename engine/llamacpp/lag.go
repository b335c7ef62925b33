package llamacpp

import "github.com/agentinfer/dyn/turn"

// made is what an answer has made so far, for the mirror.
type made struct {
	ids   []uint32 // the first ones, without a hole
	count int
	torn  bool // an id is missing behind ids
}

// add takes a step and reports whether ids are missing before its own: of a
// character that took several tokens the server tells the last one only.
func (m *made) add(e event) (hole bool) {
	hole = e.predicted > m.count+len(e.ids)
	m.count = max(e.predicted, m.count+len(e.ids))
	m.torn = m.torn || hole
	if !m.torn {
		m.ids = append(m.ids, e.ids...)
	}
	return hole
}

// lag holds back ids until their text comes: a server does not send what may
// be the beginning of a stop string. So text always comes with all its ids, or
// where some are missing, with none.
type lag struct {
	ids    []uint32
	likely []turn.Logprob
	torn   bool
}

// delta is what can be told with a step, maybe nothing. hole says that ids are
// missing before it.
func (l *lag) delta(e event, hole bool) turn.Delta {
	l.torn = l.torn || hole
	l.ids = append(l.ids, e.ids...)
	l.likely = append(l.likely, e.likely...)
	if e.text == "" {
		return turn.Delta{}
	}
	return l.rest(e.text)
}

// rest is a delta of text and all that was held back.
func (l *lag) rest(text string) turn.Delta {
	d := turn.Delta{Text: text, IDs: l.ids, Logprobs: l.likely}
	if l.torn {
		d.IDs = nil
	}
	*l = lag{}
	return d
}
