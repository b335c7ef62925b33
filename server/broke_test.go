package server

import (
	"fmt"
	"testing"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt/diff"
)

// TestBrokeTexts: the newest texts are held, a number of them, and those of a
// session that is forgotten are gone.
func TestBrokeTexts(t *testing.T) {
	var b broke
	for i := range mostBroke + 3 {
		b.add(fmt.Sprint("t", i), fmt.Sprint("s", i%2), &diff.Text{Now: fmt.Sprint(i)})
	}
	for turn, want := range map[string]string{"t0": "", "t2": "", "t3": "3", fmt.Sprint("t", mostBroke+2): fmt.Sprint(mostBroke + 2), "t": "", "": ""} {
		if got := b.find(turn); (got == nil) != (want == "") || got != nil && got.Now != want {
			t.Errorf("%q: %+v, want %q", turn, got, want)
		}
	}
	b.forget("s1")
	if b.find("t3") != nil || b.find("t4") == nil || len(b.list) != mostBroke {
		t.Error("another session was forgotten")
	}
}

// TestBreakIsInTheRow: the row of a turn has where its prompt broke, without the
// words, which the control socket tells until the session is forgotten.
func TestBreakIsInTheRow(t *testing.T) {
	r := newRig(t, 1)
	body := `{"model":"sim","max_tokens":2,"messages":[{"role":"system","content":"It is %s now."},{"role":"user","content":"What is there?"}]}`
	for _, clock := range []string{"12:00:41", "12:07:02"} {
		if code, answer := r.post("/v1/chat/completions", fmt.Sprintf(body, clock), "x-session-id", "s1"); code != 200 {
			t.Fatal(code, answer)
		}
	}
	rows := r.rows(2)
	if rows[0].Break != ledger.Alone {
		t.Errorf("the first turn: %s", rows[0].Break)
	}
	row := doc(t, rows[1].Break)
	if row["kind"] != "clock" || row["field"] != "text" || row["text"] != nil || row["was_hash"] == "" || row["block_size"] == 0.0 {
		t.Errorf("the second: %v", row)
	}
	if text := r.s.broke.find(rows[1].ID); text == nil || text.Was[text.At:][:2] != "0:" {
		t.Errorf("%+v", text)
	}
}
