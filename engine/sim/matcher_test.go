package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// matcher compares msgpack payloads byte by byte. Floats (times) may differ,
// and so may hashes, as long as equal ones stay equal.
type matcher struct {
	there, back map[string]string
}

func newMatcher() *matcher {
	return &matcher{map[string]string{}, map[string]string{}}
}

func (m *matcher) same(want, got []byte) error {
	for i := 0; i < len(want); {
		if i >= len(got) || want[i] != got[i] {
			return fmt.Errorf("byte %d: want % x, got % x", i, clip(want, i), clip(got, i))
		}
		size := length(want[i:])
		if i+size > len(want) || i+size > len(got) {
			return fmt.Errorf("byte %d: cut", i)
		}
		a, b := want[i:i+size], got[i:i+size]
		switch {
		case want[i] == 0xcb:
		case want[i] == 0xcf || want[i] == 0xc4:
			if !m.pair(string(a), string(b)) {
				return fmt.Errorf("byte %d: hash % x became % x", i, a, b)
			}
		case !bytes.Equal(a, b):
			return fmt.Errorf("byte %d: want %q, got %q", i, a, b)
		}
		i += size
	}
	if len(got) != len(want) {
		return fmt.Errorf("want %d bytes, got %d", len(want), len(got))
	}
	return nil
}

// pair keeps the two sides' hashes one to one.
func (m *matcher) pair(a, b string) bool {
	if _, ok := m.there[a]; !ok {
		m.there[a] = b
	}
	if _, ok := m.back[b]; !ok {
		m.back[b] = a
	}
	return m.there[a] == b && m.back[b] == a
}

// length is that of the msgpack value at the start of b, without what a list
// or a map holds.
func length(b []byte) int {
	switch c := b[0]; {
	case c >= 0xa0 && c < 0xc0:
		return 1 + int(c&31)
	case c == 0xc4, c == 0xd9:
		return 2 + int(b[1])
	case c == 0xcb, c == 0xcf, c == 0xd3:
		return 9
	case c == 0xce, c == 0xd2:
		return 5
	case c == 0xcd, c == 0xd1, c == 0xdc, c == 0xde:
		return 3
	case c == 0xcc:
		return 2
	case c == 0xda:
		return 3 + int(binary.BigEndian.Uint16(b[1:]))
	}
	return 1
}

func clip(b []byte, i int) []byte { return b[min(i, len(b)):min(i+12, len(b))] }
