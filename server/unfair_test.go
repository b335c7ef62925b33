package server

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
)

// TestFloodDelaysByLittle: a tenant without limits has hundreds of turns wait
// at a real engine's queue; another's one turn is not behind them, though it
// came last.
func TestFloodDelaysByLittle(t *testing.T) {
	const flood, slots = 120, 2
	r := newRig(t, 1, "--speed=2", fmt.Sprint("--max-num-seqs=", slots))
	r.s.SetKeys([]turn.Key{key("flood", "f"), key("calm", "c")})
	var over sync.WaitGroup
	ask := func(secret string, i int) {
		if status, body := r.post(chatPath, plea(i, 0), "x-api-key", secret, "x-session-id", fmt.Sprint(secret, i)); status != 200 {
			t.Errorf("%s's turn %d: %d %s", secret, i, status, body)
		}
	}
	for i := range flood {
		over.Go(func() { ask("f", i) })
	}
	r.until("the flood waits", func() bool { return r.s.Snapshot().Queue.Waiting >= flood/2 })
	over.Go(func() { ask("c", 0) })
	over.Wait()
	rows := r.rows(flood + 1)
	var its ledger.Turn
	for _, row := range rows {
		if row.Tenant == "calm" {
			its = row
		}
		if !explained(t, row) {
			t.Errorf("turn %s: %s", row.ID, row.Decision)
		}
	}
	before, after := 0, 0 // turns of the flood that were sent while it waited, and after it
	for _, row := range rows {
		switch at := sent(row); {
		case row.Tenant == "calm":
		case at.After(sent(its)):
			after++
		case at.After(its.At):
			before++
		}
	}
	if before > slots+1 || after < flood/4 {
		t.Errorf("while the other's turn waited %d of the flood's went, and %d after it", before, after)
	}
	settles(t, r.s, r.until)
}

// sent is when a turn went to its worker.
func sent(row ledger.Turn) time.Time {
	return row.At.Add(time.Duration(row.QueueMS * float64(time.Millisecond)))
}

// TestTenfoldSlower: of two engines one takes ten times as long for all that
// it does. It gets less than its half, sessions do not go to and fro between
// the two, and nothing is lost. Under the rule that counts milliseconds, once
// it is known, not even a session that is at home there stays while the other
// is free.
func TestTenfoldSlower(t *testing.T) {
	const sessions, turns = 10, 6
	for _, rule := range []string{"dyn", "kv"} {
		t.Run(rule, func(t *testing.T) {
			r := newRig(t, 0)
			r.start(0, "--speed=4")
			r.start(1, "--speed=0.4")
			r.s.SetKnobs(Knobs{Strategy: rule})
			slow := r.fleet.Workers()[1].Name()
			say := func(i, n int) {
				if status, body := r.post(chatPath, grown(i, n), "x-session-id", fmt.Sprint("s", i)); status != 200 {
					t.Errorf("session %d, turn %d: %d %s", i, n, status, body)
				}
			}
			var over sync.WaitGroup
			for i := range sessions {
				over.Go(func() {
					for n := range turns {
						say(i, n)
					}
				})
			}
			over.Wait()
			for i := range sessions {
				say(i, turns)
			}
			rows := r.rows(sessions * (turns + 1))
			at, moves, there := map[string]string{}, 0, 0
			for i, row := range rows {
				if row.Worker == slow {
					there++
				}
				if was := at[row.Session]; was != "" && was != row.Worker {
					moves++
				}
				at[row.Session] = row.Worker
				if !explained(t, row) || row.Worker == slow && rule == "dyn" && i >= sessions*turns {
					t.Errorf("turn %d of session %s went to %s, by %s", i, row.Session, row.Worker, row.Decision)
				}
			}
			t.Logf("%d of %d turns went to the slow one, sessions moved %d times", there, len(rows), moves)
			if there > len(rows)/2 || moves > 2*sessions {
				t.Errorf("%d of %d turns went to the slow one, sessions moved %d times", there, len(rows), moves)
			}
			settles(t, r.s, r.until)
			_, page := r.get("/metrics")
			balances(t, r.s, page, rows)
		})
	}
}

// grown is a session's n-th turn: each has some hundred words more.
func grown(session, n int) string {
	text := fmt.Sprintf(`{"role":"user","content":%s}`, quote(fmt.Sprintf("session %d ", session)+words(200)))
	for i := range n {
		text += fmt.Sprintf(`,{"role":"assistant","content":"yes"},{"role":"user","content":%s}`, quote(fmt.Sprint("step ", i, " ", words(60))))
	}
	return `{"model":"sim","max_tokens":24,"messages":[` + text + `]}`
}
