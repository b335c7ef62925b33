package bpe

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// alphabetSize is one more than the highest code point that stands for a
// byte: 256 plus the 68 bytes that have no printable character of their own.
const alphabetSize = 256 + 68

// letters maps the code points of the byte alphabet to the bytes they stand
// for, -1 where a code point stands for none. Files spell every byte with a
// printable character: the byte's own where Latin-1 has one, otherwise the
// next free one from U+0100 on.
var letters = func() (m [alphabetSize]int16) {
	next := 256
	for b := range 256 {
		if printable(b) {
			m[b] = int16(b)
			continue
		}
		m[b] = -1
		m[next] = int16(b)
		next++
	}
	return m
}()

// printable says which bytes stand for themselves in the alphabet.
func printable(b int) bool {
	return b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae
}

// Letter returns the character that stands for byte b in a tokenizer.json.
func Letter(b byte) rune {
	if printable(int(b)) {
		return rune(b)
	}
	for r := rune(256); r < alphabetSize; r++ {
		if letters[r] == int16(b) {
			return r
		}
	}
	return utf8.RuneError
}

// appendBytes appends the bytes that a token of the file stands for. It
// reports false, and appends nothing, when a character is outside the
// alphabet: such a token is spelled as it is and no text leads to it.
func appendBytes(dst, token []byte) ([]byte, bool) {
	start := len(dst)
	for i := 0; i < len(token); {
		c := token[i]
		if c < utf8.RuneSelf {
			if letters[c] < 0 {
				return dst[:start], false
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(token[i:])
		if r >= alphabetSize || letters[r] < 0 {
			return dst[:start], false
		}
		dst = append(dst, byte(letters[r]))
		i += n
	}
	return dst, true
}

// appendSpaced appends a token of a SentencePiece file with spaces for its
// bars. It reports false, and appends nothing, when the token has spaces,
// which no normalised text has, or stands for a byte.
func appendSpaced(dst, token []byte) ([]byte, bool) {
	if bytes.IndexByte(token, ' ') >= 0 {
		return dst, false
	}
	if _, ok := hexByte(token); ok {
		return dst, false
	}
	for {
		before, after, ok := bytes.Cut(token, []byte(bar))
		dst = append(dst, before...)
		if !ok {
			return dst, true
		}
		dst = append(dst, ' ')
		token = after
	}
}

// hexByte reads a token of the form <0x0A>.
func hexByte(token []byte) (byte, bool) {
	if len(token) != len("<0x0A>") || string(token[:3]) != "<0x" || token[5] != '>' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(token[3:5]), 16, 8)
	return byte(n), err == nil
}
