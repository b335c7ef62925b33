package script

import (
	"fmt"

	"go.starlark.net/starlark"
)

// meterKey is where a thread keeps its meter.
const meterKey = "meter"

// Limits of single values.
const (
	deepest = 40  // lists in lists
	longest = 256 // bits of a number
)

// meter counts what the operations of one decision handle.
type meter struct {
	left, most int
}

// meterOf is a thread's meter.
func meterOf(t *starlark.Thread) *meter { return t.Local(meterKey).(*meter) }

// take counts n values.
func (m *meter) take(n int) error {
	if n < 0 || n > m.left {
		return fmt.Errorf("operations on more than %d values", m.most)
	}
	m.left -= n
	return nil
}

// weigh counts a value with all that it holds, as often as it holds it: that
// is what comparing, hashing, copying or printing it takes.
func (m *meter) weigh(v starlark.Value) error { return m.weighAt(v, 0) }

func (m *meter) weighAt(v starlark.Value, depth int) error {
	if depth > deepest {
		return fmt.Errorf("values nested more than %d deep", deepest)
	}
	switch v := v.(type) {
	case starlark.String:
		return m.take(1 + len(v)/16)
	case starlark.Bytes:
		return m.take(1 + len(v)/16)
	case starlark.Tuple:
		return m.weighAll(v, depth)
	case *starlark.List:
		if err := m.take(1 + v.Len()); err != nil {
			return err
		}
		for i := range v.Len() {
			if err := m.weighAt(v.Index(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	case *starlark.Dict:
		if err := m.take(1 + v.Len()); err != nil {
			return err
		}
		for _, item := range v.Items() {
			if err := m.weighAll(item, depth); err != nil {
				return err
			}
		}
		return nil
	case starlark.Sequence: // a range
		return m.take(1 + v.Len())
	}
	return m.take(1)
}

func (m *meter) weighAll(vs starlark.Tuple, depth int) error {
	if err := m.take(1 + len(vs)); err != nil {
		return err
	}
	for _, v := range vs {
		if err := m.weighAt(v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// bounded passes a value on unless it is too long a number.
func bounded(v starlark.Value, err error) (starlark.Value, error) {
	if n, ok := v.(starlark.Int); ok && err == nil {
		if _, small := n.Int64(); !small && n.BigInt().BitLen() > longest {
			return nil, fmt.Errorf("a number of more than %d bits", longest)
		}
	}
	return v, err
}
