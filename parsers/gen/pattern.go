package gen

import (
	"fmt"
	"strings"
)

// piece is a part of a marker that a regular expression describes: text,
// optional white space, or a hole with a name.
type piece struct {
	text  string
	space bool
	hole  string
}

// readPattern reads the few regular expressions that are markers in disguise: text,
// white space, groups with a name for what is read, groups of which all but one
// way is empty. For others the error tells what a spec cannot say. start says
// that nothing may stand in the marker's place at the beginning of an answer.
func readPattern(pattern string) (all []piece, start bool, err error) {
	add := func(s string) {
		if n := len(all); n > 0 && all[n-1].text != "" {
			all[n-1].text += s
			return
		}
		all = append(all, piece{text: s})
	}
	for s := pattern; s != ""; {
		switch {
		case s[0] == '^':
			start, s = true, s[1:]
		case s[0] == '$':
			s = s[1:]
		case strings.HasPrefix(s, `\s`), strings.HasPrefix(s, `\n`), strings.HasPrefix(s, `\t`):
			all = append(all, piece{space: true})
			s = strings.TrimPrefix(strings.TrimLeft(s[2:], "*+"), "?")
		case s[0] == ' ' || s[0] == '\n':
			all = append(all, piece{space: true})
			s = strings.TrimPrefix(strings.TrimLeft(s[1:], "*+"), "?")
		case s[0] == '\\' && len(s) > 1 && !letter(s[1]) && (s[1] < '0' || s[1] > '9'):
			add(s[1:2])
			s = s[2:]
		case s[0] == '(':
			in, rest := group(s)
			if rest == "" && in == "" {
				return nil, false, fmt.Errorf("the expression %q", pattern)
			}
			name, named := strings.CutPrefix(in, "?P<")
			switch {
			case named:
				name, _, _ = strings.Cut(name, ">")
				all = append(all, piece{hole: name})
			case strings.HasPrefix(in, "?:"):
				one, at, err := onlyWay(strings.TrimPrefix(in, "?:"))
				if err != nil {
					return nil, false, err
				}
				all, start = append(all, one...), start || at
				rest = strings.TrimPrefix(rest, "?") // white space, or nothing of weight
			default:
				return nil, false, fmt.Errorf("the group %q", clip(s))
			}
			s = rest
		case strings.IndexByte(`\.[]*+?{}|)`, s[0]) >= 0:
			return nil, false, fmt.Errorf("the expression %q", clip(s))
		default:
			n := strings.IndexAny(s, "^$\\ \n(.[]*+?{}|)")
			if n < 0 {
				n = len(s)
			}
			if n < len(s) && strings.IndexByte("*+?{", s[n]) >= 0 {
				return nil, false, fmt.Errorf("the expression %q", clip(s))
			}
			add(s[:n])
			s = s[n:]
		}
	}
	return all, start, nil
}

// onlyWay is the one way of several that is not empty.
func onlyWay(in string) (one []piece, start bool, err error) {
	found := false
	for _, way := range ways(in) {
		p, at, err := readPattern(way)
		if err != nil {
			return nil, false, err
		}
		start = start || at
		if len(p) == 0 {
			continue
		}
		if found {
			return nil, false, fmt.Errorf("the choice %q", clip(in))
		}
		one, found = p, true
	}
	return one, start, nil
}

// ways splits an expression at its outermost bars.
func ways(s string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '|':
			if depth == 0 {
				all, from = append(all, s[from:i]), i+1
			}
		}
	}
	return append(all, s[from:])
}

// group splits the group that s begins with from what follows it.
func group(s string) (in, rest string) {
	depth, class := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:]
			}
		}
	}
	return "", ""
}
