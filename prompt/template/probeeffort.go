package template

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agentinfer/dyn/turn"
)

// flags finds the variables that turn thinking on and off.
func (t *trial) flags() {
	ms := []object{t.say(turn.User, wordUser)}
	for _, x := range toggles {
		on, _ := t.render(ms, append(t.generate(), x.turned()...)...)
		off, ok := t.render(ms, append(t.generate(), x.name, x.off)...)
		if ok && on != off {
			t.f.flags = append(t.f.flags, x)
		}
	}
}

// turned is the variable with thinking on, as trials take it.
func (x *toggle) turned() []any {
	if x.leave {
		return nil
	}
	return []any{x.name, x.on}
}

// thoughtful are the variables of a rendering with thinking on.
func (t *trial) thoughtful() []any {
	more := t.generate()
	for _, x := range t.f.flags {
		more = append(more, x.turned()...)
	}
	return more
}

// efforts finds the variable that says how much to think, and its words.
func (t *trial) efforts() {
	for _, name := range efforts {
		if e, ok := t.effort(name); ok {
			t.f.effort = e
			return
		}
	}
}

// effort tries the words for effort in one variable; ok is false when the
// template does not mind it. A template that prints whatever it is given
// takes the usual words, and those that it treats in a way of their own. One
// that does not mind unknown words takes all, unless it names the effort
// that it has without any: then those it knows are taken, and that one.
func (t *trial) effort(name string) (e effort, ok bool) {
	ms := []object{t.say(turn.User, wordUser)}
	with := func(word string) (string, bool) {
		return t.render(ms, append(t.thoughtful(), name, word)...)
	}
	plain, _ := t.render(ms, t.thoughtful()...)
	other, taken := with(wordEffort)
	echo := strings.Contains(other, wordEffort)
	e.name, ok = name, other != plain
	special := ""
	for _, word := range append(slices.Clone(ladder), noEffort...) {
		text, fine := with(word)
		switch {
		case !fine:
		case text != strings.ReplaceAll(other, wordEffort, word) && slices.Contains(noEffort, word):
			if ok = true; e.off == "" {
				e.off, e.idle = word, text == plain && len(e.takes) > 0
			}
		case slices.Contains(noEffort, word):
		case text != strings.ReplaceAll(other, wordEffort, word):
			e.takes, ok, special = append(e.takes, word), true, text
		case echo && slices.Contains(usual, word):
			e.takes = append(e.takes, word)
		}
	}
	if !taken || echo {
		return e, ok
	}
	switch word := differing(plain, special); {
	case other != plain || special == "":
	case slices.Contains(noEffort, word):
		e.off, e.idle = word, true
		return e, ok
	case slices.Contains(ladder, word):
		if !slices.Contains(e.takes, word) {
			e.takes = append(e.takes, word)
		}
		return e, ok
	}
	e.takes = slices.Clone(ladder)
	return e, ok
}

// usual are the efforts that models are trained on where they are trained on
// any.
var usual = []string{"low", "medium", "high"}

// differing is the word in a that is another in b, in small letters.
func differing(a, b string) string {
	n := common([]byte(a), []byte(b))
	from := strings.LastIndexFunc(a[:n], func(r rune) bool { return !unicode.IsLetter(r) }) + 1
	rest := a[from:]
	if to := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) }); to >= 0 {
		rest = rest[:to]
	}
	return strings.ToLower(rest)
}
