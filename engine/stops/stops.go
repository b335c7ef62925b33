package stops

import "strings"

// Finder looks for stop strings in one text. The zero value has none to look
// for. It belongs to one goroutine.
type Finder struct {
	stops []string
	held  string
}

// New makes a Finder; empty strings are none. The list is not to be written
// any more.
func New(stops []string) *Finder { return &Finder{stops: stops} }

// Push takes the next piece of the text and returns what may be shown of it
// and of what was held. met is the stop string that ended the text, whose own
// text is not shown; the Finder is of no use then.
func (f *Finder) Push(piece string) (show, met string) {
	text := f.held + piece
	for end := len(f.held) + 1; end <= len(text) && len(f.stops) > 0; end++ {
		if s := f.ends(text[:end]); s != "" {
			f.held = ""
			return text[:end-len(s)], s
		}
	}
	keep := f.begins(text)
	f.held = text[keep:]
	return text[:keep], ""
}

// Rest is what is held, which may be shown when no more comes.
func (f *Finder) Rest() string {
	held := f.held
	f.held = ""
	return held
}

// ends returns the longest stop string with which text ends.
func (f *Finder) ends(text string) (met string) {
	for _, s := range f.stops {
		if len(s) > len(met) && strings.HasSuffix(text, s) {
			met = s
		}
	}
	return met
}

// begins returns where the longest end of text that begins a stop string is.
func (f *Finder) begins(text string) int {
	at := len(text)
	for _, s := range f.stops {
		for i := max(0, len(text)-len(s)+1); i < at; i++ {
			if s[0] == text[i] && strings.HasPrefix(s, text[i:]) {
				at = i
			}
		}
	}
	return at
}
