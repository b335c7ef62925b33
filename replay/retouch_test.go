package replay

import (
	"testing"
	"time"

	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// tight is a closed loop in which sessions lose what they come back to.
func tight() Config {
	c := small()
	c.Profile.KV, c.Workers, c.Sessions, c.MaxPause, c.Measure = 4000, 2, 12, 10*time.Minute, 20*time.Minute
	c.Strategy = "dyn"
	return c
}

// paused are sessions with pauses that outlast such a cache, or do not.
func paused(t *testing.T) *trace.Trace {
	t.Helper()
	tr := agents(t, 20)
	for i := range tr.Sessions {
		for j := range tr.Sessions[i].Turns {
			tr.Sessions[i].Turns[j].Pause = time.Duration(5+(i*7+j*31)%90) * time.Second
		}
	}
	return tr
}

// Touches are turns of nobody: they are in no figure but their own, sessions go
// on as ever, and another run is the same.
func TestTouches(t *testing.T) {
	tr := paused(t)
	c := tight()
	plain := run(t, tr, c)
	c.Touch = &Touch{Budget: route.RetouchAll, Zone: 0.3}
	touched, again := run(t, tr, c), run(t, tr, c)
	if plain.Touches != 0 || touched.Touches == 0 || touched.Touches != again.Touches || touched.Hit != again.Hit {
		t.Errorf("%d touches without, %d and %d with", plain.Touches, touched.Touches, again.Touches)
	}
	if touched.Charged > touched.Touched/5 || touched.Touched == 0 {
		t.Errorf("%d of %d tokens had to be computed", touched.Charged, touched.Touched)
	}
	if d := touched.All - plain.All; d > plain.All/10 || -d > plain.All/10 {
		t.Errorf("%d turns with touches, %d without", touched.All, plain.All)
	}
	c.Leased = -1
	if none := run(t, tr, c); none.Touches != 0 || none.Leased.Turns != 0 || none.Unleased.Turns != none.Turns {
		t.Errorf("nobody leased: %d touches, %+v", none.Touches, none.Leased)
	}
	c.Leased = 0.5
	if half := run(t, tr, c); half.Leased.Turns == 0 || half.Leased.Turns+half.Unleased.Turns != half.Turns || half.Leased.Kept < 0 || half.Leased.Kept > 1 {
		t.Errorf("half leased: %+v and %+v of %d", half.Leased, half.Unleased, half.Turns)
	}
}

// A host tier finds what the GPU lost, at the price of loading it.
func TestHost(t *testing.T) {
	tr := agents(t, 20)
	c := tight()
	plain := run(t, tr, c)
	for _, h := range []*Host{{Times: 3, Saving: fleet.WriteBack}, {Times: 3, Saving: fleet.WriteThrough}, {Times: 3, Saving: fleet.SaveAsked}} {
		c.Host = h
		got := run(t, tr, c)
		if got.Hit <= plain.Hit || got.Loaded == 0 || plain.Loaded != 0 || got.TTFTMean >= plain.TTFTMean {
			t.Errorf("%s: hit %.3f and %.0f ms, without %.3f and %.0f", h.Saving, got.Hit, got.TTFTMean, plain.Hit, plain.TTFTMean)
		}
	}
	c.Host, c.Leased = &Host{Times: 3, Saving: fleet.SaveAsked}, -1
	if got := run(t, tr, c); got.Loaded != 0 {
		t.Errorf("nobody asked, and %d tokens are loaded", got.Loaded)
	}
}
