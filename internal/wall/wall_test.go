package wall

import (
	"testing"
	"time"
)

func TestStep(t *testing.T) {
	now := time.Now()
	for _, by := range []time.Duration{0, time.Second, -time.Second, 5 * time.Hour, -40 * 24 * time.Hour, 90 * 365 * 24 * time.Hour} {
		then := Step(now, by)
		if d := then.Sub(now); d != 0 {
			t.Errorf("%v: the even clock moved by %v", by, d)
		}
		if d := then.Round(0).Sub(now.Round(0)); d != by {
			t.Errorf("%v: the one on the wall moved by %v", by, d)
		}
		if d := then.Add(time.Minute).Sub(now); d != time.Minute {
			t.Errorf("%v: a minute later is after %v", by, d)
		}
	}
	if !Steady(now) || !Steady(Step(now, time.Hour)) || Steady(now.Round(0)) || Steady(time.Time{}) {
		t.Error("what is steady")
	}
}
