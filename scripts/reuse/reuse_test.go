package reuse

import (
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
)

func TestCheck(t *testing.T) {
	turn := func(agent string, second, prompt, cached, output int) ledger.Turn {
		return ledger.Turn{Session: "s", Agent: agent, At: time.Unix(int64(second), 0), Prompt: prompt, Cached: cached, Output: output}
	}
	kind := func(t ledger.Turn, kind string) ledger.Turn {
		t.Kind = kind
		return t
	}
	messages := func(t ledger.Turn, n int) ledger.Turn {
		t.Messages = n
		return t
	}
	for _, c := range []struct {
		name                      string
		turns                     []ledger.Turn
		checked, restarts, misses int
	}{
		{"grown and cached", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1200, 1088, 10)}, 1, 0, 0},
		{"out of order", []ledger.Turn{turn("a", 2, 1200, 1088, 10), turn("a", 1, 1000, 0, 100)}, 1, 0, 0},
		{"at the limit", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1200, 1068, 10)}, 1, 0, 0},
		{"one token beyond", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1200, 1067, 10)}, 1, 0, 1},
		{"the answer dropped, the rest cached", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1010, 992, 10)}, 1, 0, 0},
		{"another agent's turn between", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("b", 2, 900, 0, 5), turn("a", 3, 1200, 1088, 10)}, 1, 0, 0},
		{"first turns only", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("b", 2, 900, 0, 5)}, 0, 0, 0},
		{"a restart, and on from there", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 500, 0, 50), turn("a", 3, 600, 544, 1)}, 1, 1, 0},
		{"a title first", []ledger.Turn{kind(turn("a", 1, 90, 0, 9), "title"), turn("a", 2, 1000, 0, 100)}, 0, 0, 0},
		{"a compaction is judged", []ledger.Turn{turn("a", 1, 1000, 0, 100), kind(turn("a", 2, 1200, 0, 9), "compaction")}, 1, 0, 1},
		{"a dropped answer", []ledger.Turn{messages(turn("a", 1, 1000, 0, 100), 5), messages(turn("a", 2, 1950, 992, 9), 6)}, 1, 0, 0},
		{"a kept answer computed again", []ledger.Turn{messages(turn("a", 1, 1000, 0, 100), 5), messages(turn("a", 2, 1950, 992, 9), 7)}, 1, 0, 1},
		{"begun anew after a summary, and longer", []ledger.Turn{turn("a", 1, 1000, 0, 100), kind(turn("c", 2, 300, 0, 50), "compaction"), turn("a", 3, 1200, 496, 5)}, 0, 1, 0},
		{"two summaries with a prompt of their own", []ledger.Turn{kind(turn("c", 1, 300, 0, 50), "compaction"), kind(turn("c", 2, 900, 16, 50), "compaction")}, 0, 0, 0},
		{"once more after the summary", []ledger.Turn{turn("a", 1, 1000, 0, 100), kind(turn("c", 2, 300, 0, 50), "compaction"), turn("a", 3, 1200, 496, 5), turn("a", 4, 1300, 496, 5)}, 1, 1, 1},
		{"broken off", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1200, -1, 10)}, 0, 0, 0},
		{"a turn without figures", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 0, 0, 0), turn("a", 3, 1200, 1088, 10)}, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Check(c.turns)
			if s.Checked != c.checked || len(s.Restarts) != c.restarts || len(s.Misses) != c.misses {
				t.Fatalf("want %d checked, %d restarts, %d misses; got %+v", c.checked, c.restarts, c.misses, s)
			}
		})
	}
}
