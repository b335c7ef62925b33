package route

import "testing"

// TestStuckIsLeft: a worker at which nothing comes gets no turn while another
// works, though it has the whole prompt and that one is full; it is said why.
// Alone it gets what comes: it may only be slow.
func TestStuckIsLeft(t *testing.T) {
	const why = "nothing has come for 20s"
	n := Need{Turn: "t", Session: "s", Home: "stuck", Prompt: 10_000}
	stuck := Candidate{Worker: "stuck", Overlap: 9_900, Stuck: why}
	works := Candidate{Worker: "works", InFlight: 7, Pending: 5_000, Slots: 8}
	full := works
	full.InFlight = 8
	small := works
	small.Context = 100
	for _, r := range Rules() {
		for _, c := range []struct {
			name   string
			cs     []Candidate
			worker string
			reason Reason
			out    string
		}{
			{"another works", []Candidate{stuck, works}, "works", "", why},
			{"another is full", []Candidate{stuck, full}, "", AllFull, why},
			{"another is too small", []Candidate{stuck, small}, "stuck", "", ""},
			{"alone", []Candidate{stuck}, "stuck", "", ""},
			{"both are", []Candidate{stuck, {Worker: "two", Stuck: why}}, "", "", ""},
		} {
			s, err := New(r.Name)
			if err != nil {
				t.Fatal(err)
			}
			d := s.Pick(n, c.cs)
			if c.worker != "" && d.Worker != c.worker || c.reason != "" && d.Reason != c.reason || d.Parts[0].Out != c.out || (d.Worker == "") != (c.reason == AllFull) {
				t.Errorf("%s, %s: %+v", r.Name, c.name, d)
			}
		}
	}
}
