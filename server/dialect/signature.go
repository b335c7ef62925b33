package dialect

import (
	"encoding/base64"
	"strings"
)

// What begins the signatures that dyn writes on thinking blocks: one that
// holds the block's text, and one that only says that the block is whole.
const (
	signedText  = "dyn1."
	signedWhole = "dyn0."
)

// seal makes the signature of a thinking block while its text passes. Of an
// omitted block the signature holds the text, since nothing else does.
type seal struct {
	omitted bool
	text    []byte // of an omitted block
	sum     uint64 // FNV-1a of the text
	begun   bool
}

func (s *seal) reset() { s.text, s.begun = s.text[:0], false }

func (s *seal) write(text string) {
	if s.omitted {
		s.text = append(s.text, text...)
		return
	}
	if !s.begun {
		s.sum, s.begun = 14695981039346656037, true
	}
	for i := range len(text) {
		s.sum = (s.sum ^ uint64(text[i])) * 1099511628211
	}
}

// append appends the signature; it needs no escapes.
func (s *seal) append(dst []byte) []byte {
	if s.omitted {
		return base64.RawURLEncoding.AppendEncode(append(dst, signedText...), s.text)
	}
	dst = append(dst, signedWhole...)
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[s.sum>>shift&15])
	}
	return dst
}

// signed returns the text in a signature, or "" when it holds none.
func signed(signature string) string {
	code, ok := strings.CutPrefix(signature, signedText)
	if !ok {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(code)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
