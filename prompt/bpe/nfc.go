package bpe

import "golang.org/x/text/unicode/norm"

// compose returns text in NFC.
func compose(text string) string {
	if norm.NFC.IsNormalString(text) {
		return text
	}
	return norm.NFC.String(text)
}
