package bpe

import (
	"unicode/utf8"
	"unsafe"
)

// view is b as a string, which is good as long as b is not written to.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// appendValid appends s with every run of bytes that is no character read as
// one U+FFFD: the start of a character that does not go on counts as one run,
// as browsers, Rust and Python have it.
func appendValid[S string | []byte](dst []byte, s S) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			dst = append(dst, c)
			i++
			continue
		}
		n, ok := character(s[i:])
		if ok {
			dst = append(dst, s[i:i+n]...)
		} else {
			dst = utf8.AppendRune(dst, utf8.RuneError)
		}
		i += n
	}
	return dst
}

// character returns the length of the character that s begins with, or of
// the run that is to be read as one U+FFFD.
func character[S string | []byte](s S) (n int, ok bool) {
	var b [utf8.UTFMax]byte
	head := b[:copy(b[:], s)]
	if r, n := utf8.DecodeRune(head); r != utf8.RuneError || n > 1 {
		return n, true
	}
	n = 1
	for n < len(head) && !utf8.FullRune(head[:n+1]) {
		n++
	}
	return n, false
}

// unfinished returns the length of the tail of b that begins a character and
// may still become one.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
