package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sort is what a token is: a fixed word, or the operator's own text.
type token struct {
	sort string // data, name, string, integer, float, operators, or one of the tags' ends
	text string
	line int
}

const (
	tData     = "data"
	tName     = "name"
	tString   = "string"
	tInteger  = "integer"
	tFloat    = "float"
	tVarBegin = "begin of print statement"
	tVarEnd   = "end of print statement"
	tBegin    = "begin of statement block"
	tEnd      = "end of statement block"
	tEOF      = "end of template"
)

// operators, longest first.
var operators = []string{
	"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";",
}

// lexer cuts a template into tokens and settles all white space on the way.
type lexer struct {
	src  string
	pos  int
	line int
	toks []token
	// fresh is true where the text before the position ended a line.
	fresh bool
}

func syntax(line int, format string, args ...any) error {
	return at(line, raise("TemplateSyntaxError", format, args...))
}

// newlines turns all line ends into \n and drops the last.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func lex(src string) ([]token, error) {
	l := &lexer{src: strings.TrimSuffix(newlines.Replace(src), "\n"), line: 1, fresh: true}
	for l.pos < len(l.src) {
		if err := l.data(); err != nil {
			return nil, err
		}
	}
	return append(l.toks, token{tEOF, "", l.line}), nil
}

func (l *lexer) add(sort, text string) { l.toks = append(l.toks, token{sort, text, l.line}) }

// advance moves on, counting lines.
func (l *lexer) advance(n int) {
	l.line += strings.Count(l.src[l.pos:l.pos+n], "\n")
	l.pos += n
	l.fresh = n > 0 && l.src[l.pos-1] == '\n'
}

// data reads text up to the next tag, and that tag.
func (l *lexer) data() error {
	rest := l.src[l.pos:]
	i := 0
	for {
		n := strings.IndexByte(rest[i:], '{')
		if n < 0 || i+n+1 >= len(rest) {
			l.add(tData, rest)
			l.advance(len(rest))
			return nil
		}
		i += n
		if strings.IndexByte("{%#", rest[i+1]) >= 0 {
			break
		}
		i++
	}
	mark := byte(0)
	if i+2 < len(rest) && (rest[i+2] == '-' || rest[i+2] == '+') {
		mark = rest[i+2]
	}
	if text := l.trimmed(rest[:i], rest[i+1], mark); text != "" {
		l.add(tData, text)
	}
	skip := i + 2
	if mark != 0 {
		skip++
	}
	if rest[i+1] == '%' {
		if n := rawBegin(rest[skip:]); n > 0 {
			l.advance(skip + n)
			return l.raw()
		}
	}
	l.advance(skip)
	switch rest[i+1] {
	case '#':
		return l.comment()
	case '{':
		return l.tag(tVarBegin, tVarEnd, "}}")
	}
	return l.tag(tBegin, tEnd, "%}")
}

// trimmed is the text before a tag as the tag's mark leaves it: a minus takes
// all white space, and a statement or comment without a mark that stands
// first on its line takes the blanks before it.
func (l *lexer) trimmed(text string, tag, mark byte) string {
	if mark == '-' {
		return strings.TrimRightFunc(text, isSpace)
	}
	if mark == '+' || tag == '{' {
		return text
	}
	from := strings.LastIndexByte(text, '\n') + 1
	if (from > 0 || l.fresh) && strings.TrimLeftFunc(text[from:], isSpace) == "" {
		return text[:from]
	}
	return text
}

// spaces is the length of the white space that a text begins with.
func spaces(s string) int { return len(s) - len(strings.TrimLeftFunc(s, isSpace)) }

// rawBegin is the length of "raw %}" and its white space, 0 if there is none.
func rawBegin(s string) int {
	n := spaces(s)
	if !strings.HasPrefix(s[n:], "raw") {
		return 0
	}
	n += 3
	n += spaces(s[n:])
	if strings.HasPrefix(s[n:], "-%}") {
		n += 3
		return n + spaces(s[n:])
	}
	if strings.HasPrefix(s[n:], "%}") {
		return n + 2
	}
	return 0
}

// raw reads text up to endraw.
func (l *lexer) raw() error {
	rest := l.src[l.pos:]
	for i := 0; ; i++ {
		n := strings.Index(rest[i:], "{%")
		if n < 0 {
			return syntax(l.line, "Missing end of raw directive")
		}
		i += n
		j, mark := i+2, byte(0)
		if j < len(rest) && (rest[j] == '-' || rest[j] == '+') {
			mark = rest[j]
			j++
		}
		j += spaces(rest[j:])
		if !strings.HasPrefix(rest[j:], "endraw") {
			continue
		}
		j += len("endraw")
		j += spaces(rest[j:])
		k := tagEnd(rest[j:], "%}", true)
		if k == 0 {
			continue
		}
		if text := l.trimmed(rest[:i], '%', mark); text != "" {
			l.add(tData, text)
		}
		l.advance(j + k)
		return nil
	}
}

// tagEnd is the length of a tag's end at the start of s with the white space
// that it takes, 0 if the tag does not end here.
func tagEnd(s, end string, trim bool) int {
	switch {
	case strings.HasPrefix(s, "-"+end):
		return 1 + len(end) + spaces(s[1+len(end):])
	case trim && strings.HasPrefix(s, "+"+end):
		return 1 + len(end)
	case strings.HasPrefix(s, end):
		if trim && strings.HasPrefix(s[len(end):], "\n") {
			return len(end) + 1
		}
		return len(end)
	}
	return 0
}

func (l *lexer) comment() error {
	rest := l.src[l.pos:]
	n := strings.Index(rest, "#}")
	if n < 0 {
		return syntax(l.line, "Missing end of comment tag")
	}
	if n > 0 && (rest[n-1] == '-' || rest[n-1] == '+') {
		n--
	}
	l.advance(n + tagEnd(rest[n:], "#}", true))
	return nil
}

// tag reads the tokens of one tag. An end inside of brackets is none.
func (l *lexer) tag(begin, end, mark string) error {
	l.add(begin, "")
	var open []byte
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		if len(open) == 0 {
			if n := tagEnd(rest, mark, mark == "%}"); n > 0 {
				l.add(end, "")
				l.advance(n)
				return nil
			}
		}
		if n := spaces(rest); n > 0 {
			l.advance(n)
			continue
		}
		n, err := l.token(rest)
		if err != nil {
			return err
		}
		if t := l.toks[len(l.toks)-1]; t.sort == t.text {
			if open, err = l.balance(open, t.text); err != nil {
				return err
			}
		}
		l.advance(n)
	}
	return nil
}

// balance keeps the closing brackets that are awaited.
func (l *lexer) balance(open []byte, op string) ([]byte, error) {
	switch op {
	case "(":
		return append(open, ')'), nil
	case "[":
		return append(open, ']'), nil
	case "{":
		return append(open, '}'), nil
	case ")", "]", "}":
		if len(open) == 0 {
			return nil, syntax(l.line, "unexpected '%s'", op)
		}
		if want := open[len(open)-1]; want != op[0] {
			return nil, syntax(l.line, "unexpected '%s', expected '%c'", op, want)
		}
		return open[:len(open)-1], nil
	}
	return open, nil
}

// token adds the token that rest begins with and returns its length.
func (l *lexer) token(rest string) (int, error) {
	dotted := l.pos > 0 && l.src[l.pos-1] == '.'
	if n, sort := number(rest, dotted); n > 0 {
		l.add(sort, strings.ReplaceAll(rest[:n], "_", ""))
		return n, nil
	}
	if n := word(rest); n > 0 {
		l.add(tName, rest[:n])
		return n, nil
	}
	if rest[0] == '"' || rest[0] == '\'' {
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case rest[0]:
				s, err := unescape(rest[1:i])
				if err != nil {
					return 0, syntax(l.line, "%v", err)
				}
				l.add(tString, s)
				return i + 1, nil
			}
		}
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			l.add(op, op)
			return len(op), nil
		}
	}
	c, _ := utf8.DecodeRuneInString(rest)
	return 0, syntax(l.line, "unexpected char %s at %d", quote(string(c)), utf8.RuneCountInString(l.src[:l.pos]))
}

// word is the length of the name that s begins with.
func word(s string) int {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.In(c, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
			return i
		}
	}
	return len(s)
}
