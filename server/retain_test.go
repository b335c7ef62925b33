package server

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Each range of nvext.retention is answered: what a prefix can keep is a lease,
// the rest is said not to be possible.
func TestRetentionAnswers(t *testing.T) {
	r := newRig(t, 1)
	ranges := `,"nvext":{"retention":[{"where":"system","priority":100},{"where":"history"},{"where":"output","priority":1},{"where":"tokens[0,64]","duration":"5m"},
		{"where":"tokens[900000,900001]"},{"where":"tools","priority":0}]}`
	for turn, want := range []string{
		"asked asked not possible here asked not possible here not possible here",
		"kept kept not possible here kept not possible here not possible here",
	} {
		said := []string{"hello", "hi", "go on"}[:2*turn+1]
		a := r.say(leasing("one", "", ranges, 60, said...))
		var states []string
		list := gjson.Get(a.body, "nvext.retention")
		for _, x := range list.Array() {
			states = append(states, x.Get("state").Str)
			if x.Get("state").Str == notPossible && x.Get("why").Str == "" {
				t.Errorf("no reason: %s", x.Raw)
			}
		}
		if got := strings.Join(states, " "); got != want {
			t.Errorf("turn %d: %s\nwant %s: %s", turn, got, want, list.Raw)
		}
		if h := a.header.Get(leaseHeader); h == "" {
			t.Errorf("turn %d: no header", turn)
		}
	}
	for _, l := range r.s.Snapshot().Leases.Live {
		if l.Source != "retention" {
			t.Errorf("%+v", l)
		}
	}
}

// A list of ranges that cannot be read is a problem of the client's.
func TestBadRetention(t *testing.T) {
	st, _ := reading(t)
	for _, list := range []string{
		`{}`, `[1]`, `[{}]`, `[{"where":"elsewhere"}]`, `[{"where":"tokens"}]`, `[{"where":"tokens[5,5]"}]`, `[{"where":"tokens[-1,5]"}]`, `[{"where":"tokens[1,2] "}]`,
		`[{"where":"system[1,2]"}]`, `[{"where":"system","priority":-1}]`, `[{"where":"system","duration":"soon"}]`, `[{"where":"system","duration":"99999999999999h"}]`,
		"[" + strings.Repeat(`{"where":"history"},`, 20) + `{"where":"history"}]`,
	} {
		if a := ask(t, "POST", st.url+"/v1/chat/completions", says("hi", `,"max_tokens":4,"nvext":{"retention":`+list+`}`)); a.status != 400 {
			t.Errorf("%s: %d %s", list, a.status, a.body)
		}
	}
}
