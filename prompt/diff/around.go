package diff

import (
	"strings"
	"unicode/utf8"
)

// How many bytes are kept of a text, before the place and behind it.
const (
	around = 120
	ahead  = 200
)

// Around makes the Text of what stood and what stands behind the same head: the
// line of the place, cut to what a person reads, and a little of what follows.
// same is how many bytes of was and now are the same.
func Around(head, was, now []byte, same int) *Text {
	lead := string(head) + string(now[:same])
	if n := strings.LastIndexByte(strings.TrimSuffix(lead, "\n"), '\n'); n >= 0 {
		lead = lead[n+1:]
	}
	if cut := len(lead) - around; cut > 0 {
		for cut < len(lead) && !utf8.RuneStart(lead[cut]) {
			cut++
		}
		lead = lead[cut:]
	}
	lead = strings.ToValidUTF8(lead, "\uFFFD")
	return &Text{Was: lead + tail(was[same:]), Now: lead + tail(now[same:]), At: len(lead)}
}

// tail is the start of a text that may end in half a character.
func tail(b []byte) string {
	if len(b) > ahead {
		n := ahead
		for n > 0 && !utf8.RuneStart(b[n]) {
			n--
		}
		b = b[:n]
	}
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if r := b[len(b)-n]; utf8.RuneStart(r) {
			if r >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				b = b[:len(b)-n]
			}
			break
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
