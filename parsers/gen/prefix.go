package gen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

func digitsOf(n int) string { return strconv.Itoa(n) }

// stability says whether the prompts of one conversation begin with each
// other in a mode: P1 the prompt of the first turn and the one behind a tool's
// result, P2 that one and the finished turn, P3 the finished turn and a new
// question.
type stability struct {
	Mode  string
	Marks string   // Y, n or - for each
	Notes []string // where one breaks: the bytes that differ
	Helps string   // the switch that makes it better; "" when none does
}

// stable tests the prefixes with thinking on and off.
func (t *trial) stable(m *manner, r *parsers.Reasoning) (all []stability) {
	field := "reasoning_content"
	if r != nil && r.Field != "" {
		field = r.Field
	}
	for _, on := range []bool{true, false} {
		name, vars := "on", t.thinkingVars()
		set := vars[len(vars)-1]
		if !on {
			name, set = "off", off(set)
			if r == nil || set == nil {
				all = append(all, stability{Mode: name, Marks: "-"})
				continue
			}
		}
		best := t.prefixes(m, name, field, set, on && r != nil)
		if strings.Contains(best.Marks, "n") {
			best.Helps = t.helps(best, func(v variable) stability {
				return t.prefixes(m, name, field, append(set[:len(set):len(set)], v), on && r != nil)
			})
		}
		all = append(all, best)
	}
	return all
}

// prefixes renders one conversation at four times.
func (t *trial) prefixes(m *manner, name, field string, set []variable, thinks bool) stability {
	first := m.answer("", one("kvtext", `"qtplainy"`))
	final := message{"role": "assistant", "content": wordText}
	if thinks {
		first[field], final[field] = wordThink, "vqsecond"
	}
	chat := []message{user(wordUser), first, result(m.id(toolOne, 0)), final, user(wordUser2)}
	step := func(n int, generate bool) (string, bool) { return t.render(chat[:n], true, generate, set) }
	p1, ok1 := step(1, true)
	p2, ok2 := step(3, true)
	p3, ok3 := step(4, false)
	p4, ok4 := step(5, true)
	s := stability{Mode: name}
	s.add("P1", p1, p2, ok1 && ok2)
	s.add("P2", p2, p3, ok2 && ok3)
	s.add("P3", strings.TrimRight(p3, "\n"), p4, ok3 && ok4)
	return s
}

// helps finds the switch of the template with which more prompts begin with
// each other, as name=value and what the marks are then; "" when none does.
func (t *trial) helps(was stability, with func(variable) stability) string {
	best, say := strings.Count(was.Marks, "Y"), ""
	for _, name := range t.jinja.Names() {
		if _, mode := switchValues[name]; mode || notSwitches[name] {
			continue
		}
		for _, v := range []bool{true, false} {
			if s := with(variable{name, v}); !strings.Contains(s.Marks, "-") && strings.Count(s.Marks, "Y") > best {
				best, say = strings.Count(s.Marks, "Y"), fmt.Sprintf("`%s=%s` makes it %s", name, show(v), spaced(s.Marks))
			}
		}
	}
	return say
}

// spaced are marks as people read them.
func spaced(marks string) string { return strings.Join(strings.Split(marks, ""), " ") }

// off are the variables that turn thinking off, nil where none does.
func off(on []variable) (vars []variable) {
	for _, v := range on {
		switch v.value.(type) {
		case bool:
			vars = append(vars, variable{v.name, false})
		case string:
			vars = append(vars, variable{v.name, "disabled"})
		}
	}
	return vars
}

// add notes whether a is a prefix of b.
func (s *stability) add(what, a, b string, rendered bool) {
	switch {
	case !rendered:
		s.Marks += "-"
	case strings.HasPrefix(b, a):
		s.Marks += "Y"
	default:
		s.Marks += "n"
		n := len(wholeTags(a[:common(a, b)], a))
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %q becomes %q", what, clip(a[n:]), clip(b[n:])))
	}
}

// clip is the beginning of a text, short enough for a report.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
