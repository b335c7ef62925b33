package gen

import (
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// tagged: each argument stands between tags. What repeats is found by
// comparing one argument with two, and one call with two.
func (b *bodies) tagged(spec *parsers.Spec, name int, f frame) bool {
	spec.Grammar = parsers.Tagged
	before := b.single[:name]
	behind := b.single[name+len(toolOne):]
	key := strings.Index(behind, keyOne)
	value := strings.Index(behind, wordOne)
	if key < 0 || value < key+len(keyOne) {
		return false
	}
	head, mid, post := behind[:key], behind[key+len(keyOne):value], behind[value+len(wordOne):]

	keyOpen, shut := head, post
	if i := strings.Index(b.wide, wordOne); i >= 0 && strings.Contains(b.wide[i:], keyTwo) {
		between := b.wide[i+len(wordOne):]
		between = between[:strings.Index(between, keyTwo)]
		between = strings.ReplaceAll(between, keyOne, "{key}")
		post = strings.ReplaceAll(post, keyOne, "{key}")
		keyOpen = fromTag(head[len(head)-commonEnd(head, between):])
		rest := between[:len(between)-len(keyOpen)]
		shut = wholeTags(post[:common(rest, post)], post)
	}
	nameEnd := head[:len(head)-len(keyOpen)]
	after := post[len(shut):]

	open, close, section, sectionEnd := before, after, "", ""
	if b.double != "" {
		from := strings.Index(b.double, wordOne) + len(wordOne)
		between := strings.ReplaceAll(b.double[from:strings.Index(b.double, toolTwo)], keyOne, "{key}")
		between = strings.TrimPrefix(between, shut)
		open = fromTag(before[len(before)-commonEnd(before, between):])
		rest := between[:len(between)-len(open)]
		close = wholeTags(after[:common(rest, after)], after)
		section, sectionEnd = before[:len(before)-len(open)], after[len(close):]
	}
	if f.tail != "" {
		for _, move := range []struct{ from, to *string }{
			{&keyOpen, &nameEnd}, {&after, &shut}, {&open, &section}, {&sectionEnd, &close},
		} {
			if rest, ok := strings.CutPrefix(*move.from, f.tail); ok {
				*move.from = rest
				if !strings.HasSuffix(*move.to, f.tail) {
					*move.to += f.tail
				}
			}
		}
		shut, close = ended(shut, f.tail), ended(strings.TrimPrefix(close, f.tail), f.tail)
	}
	if strings.TrimSpace(section) == "" { // a wrapper of each call is a section of one call
		section, open = lastTag(open)
		if rest, first := firstTag(close); strings.TrimSpace(section) != "" && strings.TrimSpace(rest) != "" {
			close, sectionEnd = first, rest
		} else {
			open, section = section+open, ""
		}
	}
	spec.Section = parsers.Pair{Open: mark(section), Close: mark(sectionEnd)}
	spec.Call.Open, spec.Call.NameEnd, spec.Call.Close = mark(open), mark(b.counted(nameEnd)), mark(close)
	spec.Arg = parsers.Arg{Open: mark(keyOpen), Mid: mark(squeeze(mid)), Close: mark(shut)}
	spec.Arg.Newline = strings.HasSuffix(mid, "\n") || strings.HasPrefix(shut, "\n")
	return len(spec.Arg.Open) > 0 && len(spec.Arg.Close) > 0
}

// ended gives a marker the tag that ends it.
func ended(marker, tail string) string {
	if strings.TrimSpace(marker) == "" || strings.HasSuffix(marker, tail) {
		return marker
	}
	return marker + tail
}

// lastTag splits a text before its last tag, where white space stands there.
func lastTag(s string) (before, tag string) {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexAny(s, " \t\r\n"); i >= 0 && strings.HasPrefix(s[i+1:], "<") {
		return s[:i], s[i+1:]
	}
	return "", s
}

// firstTag splits a text behind its first tag, where white space stands there.
func firstTag(s string) (rest, tag string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 && strings.HasSuffix(s[:i], ">") {
		return s[i+1:], s[:i]
	}
	return "", s
}

// squeeze writes white space between tags as one space, which stands for any
// or none.
func squeeze(s string) string {
	s = strings.TrimSpace(s)
	if strings.Contains(s, ">") && strings.Contains(s, "<") {
		return strings.Join(strings.Fields(s), " ")
	}
	return s
}
