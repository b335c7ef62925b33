package prompt

import (
	"sync"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestRawIsBounded(t *testing.T) {
	r := NewRaw("m", 10*(turnBytes+40), nil)
	for i := range uint64(100) {
		r.Put(i+1000, turn.RawTurn{Key: i, IDs: make([]uint32, 10)})
		r.Find(0)
	}
	if r.Bytes() > 10*(turnBytes+40) || len(r.answered) != 10 {
		t.Errorf("holds %d bytes and %d answered", r.Bytes(), len(r.answered))
	}
	if r.Find(0) == nil || !r.Answered(1000) {
		t.Error("the entry in use was dropped")
	}
	if r.Find(50) != nil || r.Answered(1050) {
		t.Error("an old entry was not dropped")
	}
	r.Put(0, turn.RawTurn{Key: 1, IDs: make([]uint32, 1<<20)})
	if r.Find(1) != nil {
		t.Error("too large an entry was kept")
	}
	var none *Raw
	if none.Put(0, turn.RawTurn{}); none.Find(0) != nil || none.Answered(0) {
		t.Error("nil holds something")
	}
}

// TestRawIsBoundedInNumber: many short answers do not grow the maps for ever.
func TestRawIsBoundedInNumber(t *testing.T) {
	r := NewRaw("m", 1<<30, nil)
	for i := range uint64(mostTurns + 10) {
		r.Put(i, turn.RawTurn{Key: i})
	}
	if len(r.m) != mostTurns || len(r.answered) != mostTurns || r.Find(9) != nil || r.Find(10) == nil {
		t.Errorf("%d answers are held, %d histories", len(r.m), len(r.answered))
	}
}

// TestRawIsSteady: an answer that is given again, in other ids, changes no
// prompt; with other thoughts it is another.
func TestRawIsSteady(t *testing.T) {
	s := new(shelf)
	r := NewRaw("m", 1<<20, s)
	r.Put(1, turn.RawTurn{Key: 2, IDs: []uint32{3}, Thinking: "so"})
	r.Put(1, turn.RawTurn{Key: 2, IDs: []uint32{4}, Thinking: "so"})
	NewRaw("m", 1<<20, s).Put(1, turn.RawTurn{Key: 2, IDs: []uint32{5}, Thinking: "so"})
	if got := r.Find(2).IDs[0]; got != 3 {
		t.Errorf("the answer's id is %d", got)
	}
	if got, _ := s.Find("m", 2); got.IDs[0] != 3 {
		t.Errorf("on the shelf it is %d", got.IDs[0])
	}
	if r.Put(1, turn.RawTurn{Key: 2, IDs: []uint32{6}, Thinking: "or so"}); r.Find(2).IDs[0] != 6 {
		t.Error("other thoughts are not kept")
	}
}

func TestRawForgets(t *testing.T) {
	r := NewRaw("m", 1<<20, nil)
	for i := range uint64(9) {
		r.Put(i+100, turn.RawTurn{Key: i, Session: string(rune('a' + i%3))})
	}
	r.Forget("b")
	for i := range uint64(9) {
		if gone := r.Find(i) == nil; gone != (i%3 == 1) || r.Answered(i+100) == gone {
			t.Errorf("answer %d: forgotten %v", i, gone)
		}
	}
}

// shelf is a Shelf in memory.
type shelf struct{ m sync.Map }

func (s *shelf) Keep(t turn.RawTurn) { s.m.Store(t.Key, t) }

func (s *shelf) Find(model string, key uint64) (turn.RawTurn, bool) {
	v, ok := s.m.Load(key)
	if !ok || v.(turn.RawTurn).Model != model {
		return turn.RawTurn{}, false
	}
	return v.(turn.RawTurn), true
}

// TestRawAsksBehind checks that what memory lacks is found behind it, and is
// then in memory.
func TestRawAsksBehind(t *testing.T) {
	s := new(shelf)
	NewRaw("m", 1<<20, s).Put(1, turn.RawTurn{Key: 2, IDs: []uint32{3}})
	r := NewRaw("m", 1<<20, s)
	if got := r.Find(2); got == nil || len(got.IDs) != 1 || r.Bytes() == 0 {
		t.Fatalf("found %+v, %d bytes", got, r.Bytes())
	}
	s.m.Clear()
	if r.Find(2) == nil || r.Find(4) != nil || NewRaw("other", 1<<20, s).Find(2) != nil {
		t.Error("memory does not hold what was found, or more")
	}
}
