package llamacpp

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// run is one of the recorded runs of four conversations with a common
// beginning, under some setting.
type run struct {
	Label, Pattern string
	Args           []string
	Pin            string
	NP             int
	Requests       []request
}

type request struct {
	Agent  int
	Turn   int
	Slot   int `json:"id_slot"`
	Cached int `json:"cache_n"`
	Prompt int `json:"prompt_tokens"`
}

func recordedRuns(t *testing.T) []run {
	t.Helper()
	var file struct{ Runs []run }
	if err := json.Unmarshal(fixtures.Read(t, "engines/llamacpp", "kv-reuse.json"), &file); err != nil {
		t.Fatal(err)
	}
	return file.Runs
}

// What the recorded conversations had in common, and how many tokens of an
// answer the next prompt repeated. How long the answers were is not recorded.
const (
	shared   = 116
	repeated = 5
)

// said is what an agent's turn sent: ids made up so that prompts have in common
// what the recorded ones had.
func said(agent, upTo int) turn.IDs {
	ids := make([]uint32, upTo)
	for i := range ids {
		ids[i] = uint32(i)
		if i >= shared {
			ids[i] += uint32(1000 * (agent + 1))
		}
	}
	return turn.IDsOf(ids...)
}

// The mirror says of each recorded request where it went and what was found
// there, under every setting in which requests came one after the other. One
// run does not fit: there the server, which is newer than the one whose rules
// we have, saved states of pinned slots of which more than half was kept; what
// is expected there is too little. Of requests that came together the order is
// not recorded.
func TestRecordedReuse(t *testing.T) {
	for _, r := range recordedRuns(t) {
		t.Run(r.Label, func(t *testing.T) {
			m := newMirror(r.NP, readRules(slices.Concat([]string{"llama-server"}, r.Args)))
			together := 1
			switch r.Pattern {
			case "pairs":
				together = 2
			case "free":
				together = 4
			}
			wrong, off, told, got := 0, 0, 0, 0
			for group := range slices.Chunk(r.Requests, together) {
				var claims []*claim
				for _, q := range group {
					c := &claim{prompt: said(q.Agent, q.Prompt), pin: -1}
					if r.Pin == "mod" {
						c.pin = q.Agent % r.NP
					}
					m.begin(c)
					claims = append(claims, c)
				}
				for i, q := range group {
					c := claims[i]
					if c.slot != q.Slot {
						wrong++
					}
					m.end(c, outcome{slot: q.Slot, cached: q.Cached, ids: said(q.Agent, q.Prompt+repeated), size: q.Prompt + repeated})
					if c.reuse != q.Cached {
						off++
						t.Logf("agent %d, turn %d: slot %d, %d cached; expected %d", q.Agent, q.Turn, q.Slot, q.Cached, c.reuse)
					}
					told, got = told+c.reuse, got+q.Cached
				}
			}
			t.Logf("%d requests: %d in another slot, %d with other reuse; %d tokens expected, %d found",
				len(r.Requests), wrong, off, told, got)
			switch exact := together == 1 && r.Label != "pin-ram"; {
			case exact && (wrong > 0 || off > 0):
				t.Errorf("%d in another slot, %d with other reuse", wrong, off)
			case 100*max(told-got, got-told) > 8*got:
				t.Errorf("%d tokens expected, %d found", told, got)
			}
		})
	}
}

// A server that others launched shows by where its requests go how alike a slot
// must be.
func TestSimilarityIsLearned(t *testing.T) {
	for _, r := range recordedRuns(t) {
		if r.Label != "sps09-ram" && r.Label != "default-ram" {
			continue
		}
		for _, assumed := range []float64{0.1, 0.9} {
			m := newMirror(r.NP, rules{similarity: assumed, saving: true, perToken: 1})
			late := 0
			for i, q := range r.Requests {
				c := &claim{prompt: said(q.Agent, q.Prompt), pin: -1}
				m.begin(c)
				m.end(c, outcome{slot: q.Slot, cached: q.Cached, ids: said(q.Agent, q.Prompt+repeated), size: q.Prompt + repeated})
				if i >= 2 && c.reuse != q.Cached {
					late++
				}
			}
			if late > 0 {
				t.Errorf("%s, %v assumed: %d requests with other reuse, similarity %v", r.Label, assumed, late, m.rules.similarity)
			}
		}
	}
}
