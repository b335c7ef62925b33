package bpe

import "math/bits"

// What follows looks at eight bytes at once, each in its own part of a word,
// and marks them by their highest bits.
const (
	each  = 0x0101010101010101
	highs = 0x8080808080808080
)

// lettersEnd returns the end of the ASCII letters from s[j] on.
func lettersEnd(s string, j int) int {
	for ; j+8 <= len(s); j += 8 {
		if other := ^letters8(load64(s, j)) & highs; other != 0 {
			return j + bits.TrailingZeros64(other)/8
		}
	}
	for j < len(s) && s[j]|0x20-'a' < 26 {
		j++
	}
	return j
}

// smallsEnd returns the end of the small ASCII letters from s[j] on.
func smallsEnd(s string, j int) int {
	for ; j+8 <= len(s); j += 8 {
		if other := ^within(load64(s, j), 'a', 'z') & highs; other != 0 {
			return j + bits.TrailingZeros64(other)/8
		}
	}
	for j < len(s) && s[j]-'a' < 26 {
		j++
	}
	return j
}

// noDigitsEnd returns the end of the ASCII from s[j] on that has no digit.
func noDigitsEnd(s string, j int) int {
	for ; j+8 <= len(s); j += 8 {
		x := load64(s, j)
		if other := (within(x, '0', '9') | x) & highs; other != 0 {
			return j + bits.TrailingZeros64(other)/8
		}
	}
	for j < len(s) && s[j] < 0x80 && s[j]-'0' >= 10 {
		j++
	}
	return j
}

// asciiEnd returns the end of the ASCII from s[j] on.
func asciiEnd(s string, j int) int {
	for ; j+8 <= len(s); j += 8 {
		if other := load64(s, j) & highs; other != 0 {
			return j + bits.TrailingZeros64(other)/8
		}
	}
	for j < len(s) && s[j] < 0x80 {
		j++
	}
	return j
}

// letters8 marks the ASCII letters.
func letters8(x uint64) uint64 { return within(x|0x20*each, 'a', 'z') }

// within marks the bytes from lo to hi, which are below 0x80; the other bits
// of the result mean nothing.
func within(x uint64, lo, hi byte) uint64 {
	low := x &^ highs
	return (low + uint64(0x80-lo)*each) &^ (low + uint64(0x7f-hi)*each) &^ x
}
