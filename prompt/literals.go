package prompt

import "strings"

// printed lists the pieces of text that a Jinja template can print: its raw
// text and the string literals in its output and set statements. Literals in
// conditions, subscripts and calls are left out: they are read, not printed.
func printed(source string) []string {
	var out []string
	for source != "" {
		open := strings.IndexByte(source, '{')
		for open >= 0 && open+1 < len(source) && strings.IndexByte("{%#", source[open+1]) < 0 {
			n := strings.IndexByte(source[open+1:], '{')
			if n < 0 {
				open = -1
				break
			}
			open += 1 + n
		}
		if open < 0 || open+1 >= len(source) {
			return appendText(out, source)
		}
		out = appendText(out, source[:open])
		kind := source[open+1]
		body, rest := tag(source[open+2:], kind)
		if kind == '{' || kind == '%' && setsText(body) {
			out = appendLiterals(out, body)
		}
		source = rest
	}
	return out
}

// appendText appends raw text that is more than white space.
func appendText(out []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		out = append(out, s)
	}
	return out
}

// setsText reports whether a statement gives a name to a value.
func setsText(body string) bool {
	body = strings.TrimLeft(body, "-+ \t\r\n")
	return strings.HasPrefix(body, "set ") && !strings.Contains(body, "namespace(")
}

// tag cuts the body of a tag from what follows it; quotes hide its end.
func tag(s string, kind byte) (body, rest string) {
	end := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[kind]
	for i := 0; i < len(s); i++ {
		if strings.HasPrefix(s[i:], end) {
			return s[:i], s[i+2:]
		}
		if c := s[i]; kind != '#' && (c == '\'' || c == '"') {
			i = literalEnd(s, i)
		}
	}
	return s, ""
}

// literalEnd is the index of the quote that closes the one at i.
func literalEnd(s string, i int) int {
	quote := s[i]
	for i++; i < len(s) && s[i] != quote; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i
}

// appendLiterals appends the string literals of body that stand free.
func appendLiterals(out []string, body string) []string {
	var before byte
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c != '\'' && c != '"' {
			if c != ' ' && c != '\t' && c != '\n' {
				before = c
			}
			continue
		}
		end := literalEnd(body, i)
		if before != '[' && before != '(' && before != ',' && before != '=' || setsLiteral(body, i) {
			out = append(out, unquoted(body[i+1:min(end, len(body))]))
		}
		i, before = end, c
	}
	return out
}

// setsLiteral reports whether the literal at i is the value of a set
// statement, rather than one side of a comparison.
func setsLiteral(body string, i int) bool {
	head := strings.TrimRight(body[:i], " \t\r\n")
	return strings.HasSuffix(head, "=") && !strings.HasSuffix(head, "==") &&
		!strings.HasSuffix(head, "!=") && strings.Count(head, "=") == 1
}

// unquoted resolves the escapes of a Jinja literal.
func unquoted(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`).Replace(s)
}
