package bpe

import "unicode/utf8"

// jointBits is the size of the set of pairs, as a power of 2. Half a megabyte
// holds those of the largest vocabulary with few that collide.
const jointBits = 22

// joints cuts text where no merge joins the two characters on both sides:
// every token that merges could make would need that merge first, so what is
// cut merges to the same tokens as the whole. It is a set of the pairs of
// neighbours that some merge has where its halves meet. Pairs that collide
// look joined, which costs a longer piece and changes no id.
type joints struct {
	ascii  [utf8.RuneSelf][utf8.RuneSelf]bool
	others []uint64
}

// newJoints returns an empty set.
func newJoints() *joints { return &joints{others: make([]uint64, 1<<(jointBits-6))} }

// add enters the joint of a merge.
func (j *joints) add(leftHalf, rightHalf string) {
	left, _ := utf8.DecodeLastRuneInString(leftHalf)
	right, _ := utf8.DecodeRuneInString(rightHalf)
	if left < utf8.RuneSelf && right < utf8.RuneSelf {
		j.ascii[left][right] = true
		return
	}
	b := bitOf(left, right)
	j.others[b>>6] |= 1 << (b & 63)
}

// bitOf is the place of a pair in the set.
func bitOf(left, right rune) uint64 {
	return mix(uint64(left)<<32|uint64(right)) >> (64 - jointBits)
}

// joined says whether a merge may join two characters.
func (j *joints) joined(left, right rune) bool {
	if left < utf8.RuneSelf && right < utf8.RuneSelf {
		return j.ascii[left][right]
	}
	b := bitOf(left, right)
	return j.others[b>>6]>>(b&63)&1 != 0
}

func (j *joints) stretch(s string, _ int) int { return len(s) }

func (j *joints) next(s string, i int) int {
	left, n := rune(s[i]), 1
	if left >= utf8.RuneSelf {
		left, n = utf8.DecodeRuneInString(s[i:])
	}
	for i += n; i < len(s); i += n {
		right := rune(s[i])
		if n = 1; right >= utf8.RuneSelf {
			right, n = utf8.DecodeRuneInString(s[i:])
		}
		if !j.joined(left, right) {
			return i
		}
		left = right
	}
	return i
}
