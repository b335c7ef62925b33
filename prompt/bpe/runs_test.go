package bpe

import (
	"math/rand"
	"strings"
)

// runs are texts without end: what a tokenizer that is not made for them takes
// too long for.
func runs() (all []input) {
	r := rand.New(rand.NewSource(1))
	among := func(from, n int) func() string { return func() string { return string(rune(from + r.Intn(n))) } }
	of := func(chars string) func() string {
		list := []rune(chars)
		return func() string { return string(list[r.Intn(len(list))]) }
	}
	for _, run := range []struct {
		name string
		next func() string
	}{
		{"one sign", of("=")},
		{"one letter", of("a")},
		{"letters", among('a', 26)},
		{"letters of both cases", of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")},
		{"base64", of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")},
		{"hex", of("0123456789abcdef")},
		{"digits", among('0', 10)},
		{"signs", of("!#$%&()*+,-./:;<=>?@[]^_{|}~")},
		{"control characters", among(1, 8)},
		{"Latin", among(0xc0, 64)},
		{"marks", among(0x300, 112)},
		{"Thai", among(0xe01, 58)},
		{"Chinese", among(0x4e00, 0x51a6)},
		{"frequent Chinese", of("的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里")},
		{"Hangul", among(0xac00, 11172)},
		{"emoji", among(0x1f300, 700)},
		{"rare Chinese", among(0x20000, 0xa6d6)},
		{"anything", among(0x80, 0xd000)},
	} {
		var b strings.Builder
		for b.Len() < 8000 {
			b.WriteString(run.next())
		}
		all = append(all, input{"run of " + run.name, b.String()})
	}
	return all
}
