package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/route"
)

// TestWhyTable: each rule is shown in what it counts in.
func TestWhyTable(t *testing.T) {
	for _, c := range []struct {
		name string
		d    route.Decision
		want string
	}{
		{"milliseconds", route.Decision{Worker: "w1", Reason: route.Cheapest, Parts: []route.Part{
			{Worker: "w0", Overlap: 0, New: 1000, PrefillMS: 5100, BacklogMS: 1400, MemoryMS: 2.25, Cost: 6502.25},
			{Worker: "w1", Overlap: 900, New: 100, PrefillMS: 510, Cost: 510},
			{Worker: "w2", New: 1000, Out: "full"},
		}}, "\tWORKER\tOVERLAP\tPREFILL\tRELOAD\tBACKLOG\tSLOWDOWN\tSTALL\tMEMORY\tTOTAL\t\n" +
			"\tw0\t0.0%\t5.1s\t–\t1.4s\t–\t–\t2.2ms\t6.5s\t\n" +
			"▸\tw1\t90.0%\t510ms\t–\t–\t–\t–\t–\t510ms\tchosen: lowest cost\n" +
			"\tw2\t0.0%\t–\t–\t–\t–\t–\t–\t–\tfull\n"},
		{"terms", route.Decision{Worker: "w0", Prefill: "w1", Reason: route.Drawn, Parts: []route.Part{
			{Worker: "w0", New: 10, Terms: []route.Term{{Name: "kv", Value: 0.25}, {Name: "queue", Value: 3}}, Cost: 0.5},
			{Worker: "w1", New: 10, Cost: 1},
		}}, "\tWORKER\tOVERLAP\tKV\tQUEUE\tCOST\t\n▸\tw0\t0.0%\t0.25\t3\t0.5\tchosen: drawn\n▹\tw1\t0.0%\t–\t–\t1\tcomputes the prompt\n"},
		{
			"a tie",
			route.Decision{Worker: "w0", Reason: route.Cheapest, Parts: []route.Part{{Worker: "w0", New: 10, Cost: 20}, {Worker: "w1", New: 20, InFlight: 1, Cost: 20}}},
			"\tWORKER\tOVERLAP\tNEW\tPENDING\tIN FLIGHT\tCOST\t\n▸\tw0\t0.0%\t10\t0\t0\t20\tchosen: a tie, fewer turns in flight\n\tw1\t0.0%\t20\t0\t1\t20\t\n",
		},
		{
			"tokens and turns",
			route.Decision{Parts: []route.Part{{Worker: "w0", New: 10, Pending: 2000, InFlight: 2, Cost: 6030}}},
			"\tWORKER\tOVERLAP\tNEW\tPENDING\tIN FLIGHT\tCOST\t\n\tw0\t0.0%\t10\t2.00k\t2\t6.03k\t\n",
		},
	} {
		var b bytes.Buffer
		if err := whyTable(c.d).print(&b); err != nil || b.String() != c.want {
			t.Errorf("%s (%v):\n%s\nwant\n%s", c.name, err, b.String(), c.want)
		}
	}
}

// TestTries: every kind of break has something to try, and a word of its own in
// the page of the documents.
func TestTries(t *testing.T) {
	for _, k := range diff.Kinds() {
		if brokenBy[k] == "" {
			t.Errorf("%s: nothing is said of it", k)
		}
		for _, harness := range []string{"claude-code", ""} {
			if got := tries(&diff.Break{Kind: k}, ledger.Turn{Harness: harness, Session: "alice/s1", Tenant: "alice"}); len(got) == 0 {
				t.Errorf("%s, %q: nothing to try", k, harness)
			}
		}
	}
	if got := tries(&diff.Break{Kind: diff.Edited}, ledger.Turn{Harness: "claude-code", Session: "alice/s1", Tenant: "alice"})[0]; !strings.HasPrefix(got, "claude --resume s1 ") {
		t.Errorf("a session of a key: %s", got)
	}
}

// TestPrintWhy is the whole page of a broken turn.
func TestPrintWhy(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	d := whyDoc{
		Turn: whyTurn{Turn: ledger.Turn{
			ID: "t8f21", At: at, Harness: "claude-code", Session: "0b77", Agent: "main", Kind: "user", Worker: "w3", Overlap: 16,
			Prompt: 118_832, Cached: 16, QueueMS: 700, GateMS: 600, TTFTMS: 5800, Outcome: "calls",
		}},
		Decision: []byte(`{"worker":"w3","reason":"lowest cost","strategy":"dyn","set":{"temperature":0.5},"gate":"auto","queue_threshold":-1,"held":{"ms":600,"why":"cold","let_in":"room"},"parts":[{"worker":"w3","overlap_tokens":16,"new_tokens":118816,"prefill_ms":5100,"cost":5100}]}`),
		Before:   &whyTurn{Turn: ledger.Turn{ID: "t8f20", Worker: "w3", Prompt: 118_000, Output: 700}},
		Break: &diff.Break{
			Kind: diff.Clock, Role: "system", Tool: -1, Field: diff.FieldText, Token: 12, Held: 118_700, Again: 118_600, Size: 64,
			Text: &diff.Text{Was: "It is 12:00", Now: "It is 12:07\nGo.", At: 9},
		},
		AgainMS: 5090, Try: []string{"one", "two", "three"},
		Breaks: []whyBreak{{Turn: "t8f21"}, {Turn: "t8f10", At: at.Add(-time.Hour), Agent: "main", Kind: diff.Compaction, Again: 9}},
	}
	if err := printWhy(&app{out: &out, err: &out}, d, at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	want := `turn t8f21   0b77/main   119k tokens   sent to w3   TTFT 5.8s
at 2026-11-30 12:00:00 (1m ago)   claude-code   user   waited 700ms   of that held by the gate 600ms   calls
gate      held for 600ms: cold; then let in: room

	WORKER	OVERLAP	PREFILL	RELOAD	BACKLOG	SLOWDOWN	STALL	MEMORY	TOTAL	
▸	w3	0.0%	5.1s	–	–	–	–	–	5.1s	chosen: lowest cost
router    dyn, temperature 0.5, queue threshold off, gate auto

believed  16 of 119k tokens cached at w3; the engine said 16 (0.0%)

prefix broke at block 1 of 1854 (token 12 of 118700): clock
  why   a time or a date stands there, and is another one now
  from  turn t8f20 (w3)
  in    message 0 (system), block 0: text
  was   It is 12:┃00
  now   It is 12:┃07⏎Go.
  cost  119k tokens computed again, about 5.1s
  try:  one
  or:   two
  or:   three

other breaks of this session
  t8f10   main   1h ago   compaction: 9 tokens again
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestPrintWhyNarrow: at 60 columns no line is longer, words are whole, and both
// sides of the change are seen.
func TestPrintWhyNarrow(t *testing.T) {
	for _, columns := range []string{"60", "80"} {
		t.Run(columns, func(t *testing.T) {
			t.Setenv("DYN_FORCE_TTY", columns)
			var out bytes.Buffer
			d := whyDoc{
				Turn:     whyTurn{Turn: ledger.Turn{ID: "t3df2e78098e7f168", Session: strings.Repeat("0b77", 9), Agent: "main", Worker: "w3", Harness: "claude-code", Outcome: "calls", Prompt: 118_832}},
				Decision: []byte(`{"worker":"w3","reason":"lowest cost","strategy":"dyn","parts":[{"worker":"w1","prefill_ms":10,"cost":10},{"worker":"w3","prefill_ms":10,"cost":10}]}`),
				Break: &diff.Break{
					Kind: diff.Clock, Role: "system", Tool: -1, Token: 12, Held: 118_700, Size: 64, Field: diff.FieldText,
					Text: &diff.Text{Was: strings.Repeat("before ", 10) + "00" + strings.Repeat(" behind", 20), Now: strings.Repeat("before ", 10) + "07" + strings.Repeat(" behind", 20), At: 70},
				},
				Try:    []string{"take the time out of that text, or send it with the last message, where it does no harm", "ONE=1"},
				Breaks: []whyBreak{{Turn: "t8f10", Agent: "main", Kind: diff.Compaction, Again: 9}},
			}
			if err := printWhy(&app{out: &out, err: &out}, d, time.Now()); err != nil {
				t.Fatal(err)
			}
			most, _ := strconv.Atoi(columns)
			for line := range strings.Lines(out.String()) {
				if n := cells(strings.TrimRight(line, "\n")); n > most {
					t.Errorf("%d cells: %s", n, line)
				}
			}
			for _, want := range []string{"PREFILL", "before ┃00 behind", "before ┃07 behind", "chosen: a tie, by lot", "\n        "} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
}

// TestHostileWords: names and words that come from clients move no cursor, and
// wide ones are counted as what they take.
func TestHostileWords(t *testing.T) {
	const hostile = "\x1b[31mred\x1b[2J\x07\u009b\u202e漢字漢字\n\tx"
	wide := strings.Repeat(hostile, 40)
	for _, columns := range []int{60, 80, 120} {
		t.Setenv("DYN_FORCE_TTY", strconv.Itoa(columns))
		var out bytes.Buffer
		d := whyDoc{
			Turn:     whyTurn{Turn: ledger.Turn{ID: "t1", Session: hostile, Agent: hostile, Harness: hostile, Worker: "w0", Error: hostile}},
			Decision: []byte(`{"worker":"w0","reason":"lowest cost","warning":"\u001b[2J","parts":[{"worker":"w0","prefill_ms":10,"cost":10,"out":"\u001b[2J"}]}`),
			Break: &diff.Break{
				Kind: diff.ToolChanged, Message: -1, Block: -1, Tool: 3, Field: diff.FieldName, Other: hostile,
				Text: &diff.Text{Was: wide + "a" + wide, Now: wide + "b" + wide, At: len(wide), Tool: hostile},
			},
			Try:    []string{hostile},
			Breaks: []whyBreak{{Turn: "t8f10", Agent: hostile, Kind: diff.Compaction}},
		}
		if err := printWhy(&app{out: &out, err: &out}, d, time.Now()); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if line != signs(line) {
				t.Errorf("a terminal acts on %q", line)
			}
			if n := cells(line); strings.Contains(line, "┃") && (n > columns || n < columns-2) {
				t.Errorf("%d cells of %d: %s", n, columns, line)
			}
		}
	}
	var out bytes.Buffer
	tab := &table{head: []string{"NAME", "N"}}
	tab.add(hostile, "1")
	if err := tab.print(&out); err != nil || strings.ContainsAny(out.String(), "\x1b\x07\u202e") || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("%v: %q", err, out.String())
	}
	for _, word := range []string{"漢字漢字漢字漢字漢字漢字", "a漢b字c漢d字e漢f字", "plain words of some length"} {
		for most := 5; most < 16; most++ {
			if got := middle(word, most); cells(got) > most || cells(got) < most-2 {
				t.Errorf("%q in %d cells: %q", word, most, got)
			}
		}
	}
}
