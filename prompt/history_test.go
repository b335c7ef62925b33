package prompt

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// slowShelf is a shelf that takes its time.
type slowShelf struct {
	shelf
	takes time.Duration
}

func (s *slowShelf) Find(model string, key uint64) (turn.RawTurn, bool) {
	time.Sleep(s.takes)
	return s.shelf.Find(model, key)
}

// TestAnswersFromDisk: after a restart every answer of a history is looked for,
// however many between them are not the model's; a slow disk is asked as long
// as there is patience.
func TestAnswersFromDisk(t *testing.T) {
	const answers = 40
	tr := &turn.Turn{}
	for i := range answers {
		tr.Messages = append(tr.Messages, msg(turn.User, says(fmt.Sprint("q", i))), msg(turn.Assistant, says(fmt.Sprint("a", i))))
	}
	rolling := Rolling(nil, tr)
	for _, c := range []struct {
		takes time.Duration
		want  int
	}{{40 * time.Microsecond, 4}, {100 * time.Millisecond, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := &slowShelf{takes: c.takes}
			for _, i := range []int{0, 10, 20, 39} { // the others were said elsewhere
				s.Keep(turn.RawTurn{Model: "m", Key: rolling[2*i+1], IDs: []uint32{1}})
			}
			var h history
			from := time.Now()
			h.follow(&desk{m: simModel(t)}, tr, nil, NewRaw("m", 1<<20, s))
			n := 0
			for _, said := range h.said {
				if said != nil {
					n++
				}
			}
			if n != c.want || h.saidBytes != n*rawBytes(&turn.RawTurn{IDs: []uint32{1}}) {
				t.Errorf("a read takes %v: %d answers are known, %d bytes; want %d", c.takes, n, h.saidBytes, c.want)
			}
			if took := time.Since(from); took > patience+c.takes {
				t.Errorf("a read takes %v: all take %v", c.takes, took)
			}
		})
	}
}
