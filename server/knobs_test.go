package server

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestSettings: knobs are told and turned on the control socket; what cannot be
// is refused, and changes nothing.
func TestSettings(t *testing.T) {
	st := newStage(t, &puppet{name: "w1", caps: caps(1000), play: aWord})
	ctl := st.control()
	turned := ""
	st.s.o.Turned = func(key, value string) { turned = key + "=" + value }
	for _, c := range []struct {
		key, value string
		status     int
		says       string
	}{
		{"router.mode", "round-robin", 200, `{"key":"router.mode","value":"round-robin","was":"dyn"}`},
		{"router.mode", "best", 422, "known are dyn, kv, lmetric"},
		{"router.queue_threshold", "off", 200, `"value":"off","was":"4"`},
		{"router.queue_threshold", "", 200, `"value":"4","was":"off"`},
		{"router.queue_threshold", "0.5", 200, `"value":"0.5","was":"4"`},
		{"router.queue_threshold", "-1", 422, "no number of 0 or more"},
		{"router.queue_depth", "8", 200, `"value":"8","was":"4096"`},
		{"router.queue_depth", "0", 200, `"value":"0","was":"8"`},
		{"router.queue_depth", "-1", 422, "no whole number"},
		{"router.queue_age", "off", 200, `"value":"off","was":"5m"`},
		{"router.queue_age", "90s", 200, `"value":"1m30s","was":"off"`},
		{"router.queue_age", "", 200, `"value":"5m","was":"1m30s"`},
		{"router.queue_age", "90s", 200, `"value":"1m30s","was":"5m"`},
		{"router.queue_age", "soon", 422, "no time such as 30s or 5m, nor off"},
		{"router.gate", "throughput", 200, `"value":"throughput","was":"auto"`},
		{"router.gate", "on", 422, "known are auto, off, balanced, throughput"},
		{"router.temperature", "0.2", 200, `"value":"0.2","was":""`},
		{"router.temperature", "", 200, `"value":"","was":"0.2"`},
		{"router.temperature", "1e10", 422, "up to 1e9"},
		{"router.prefill_weight", "NaN", 422, "no number of 0 or more"},
		{"server.port", "1", 422, "cannot be changed while the daemon runs"},
	} {
		turned = ""
		a := ask(t, "POST", ctl+"/settings", `{"key":"`+c.key+`","value":"`+c.value+`"}`)
		if a.status != c.status || !strings.Contains(a.body, c.says) || (a.status == 200) != (turned == c.key+"="+st.s.Knobs().Text(c.key)) {
			t.Errorf("%s %s: %d %s, heard %q", c.key, c.value, a.status, a.body, turned)
		}
	}
	if a := ask(t, "GET", ctl+"/settings", ""); strings.TrimSpace(a.body) != `{"router.gate":"throughput","router.mode":"round-robin","router.prefill_weight":"","router.queue_age":"1m30s","router.queue_depth":"0","router.queue_threshold":"0.5","router.temperature":""}` {
		t.Errorf("settings %s", a.body)
	}
	st.until("the picture shows it", func() bool {
		return st.s.Snapshot().Models[0].Mode == "round-robin" && st.s.Snapshot().Models[0].Gate == "throughput"
	})
	if a := ask(t, "POST", ctl+"/settings", `{`); a.status != 422 {
		t.Errorf("no document: %d %s", a.status, a.body)
	}
}

// TestThreshold: a worker with more prompt tokens pending than the threshold
// says gets no turn; a turn that waits for that goes as soon as the threshold
// does.
func TestThreshold(t *testing.T) {
	var sent atomic.Int32
	one := caps(4000)
	one.MaxBatched = 64
	st := newStage(t, &puppet{name: "w1", caps: one, play: func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
		sent.Add(1)
		return &script{ctx: ctx}, nil
	}})
	go st.post(t.Context(), chatPath, says(strings.Repeat("hello ", 300), ""))
	st.until("the first is sent", func() bool { return sent.Load() == 1 })
	go st.post(t.Context(), chatPath, says("hi", ""))
	st.until("the second waits", func() bool { return st.s.Snapshot().Queue.Waiting == 1 })
	var k Knobs
	if err := k.Set("router.queue_threshold", "5000"); err != nil {
		t.Fatal(err)
	}
	st.s.SetKnobs(k)
	st.until("the second is sent", func() bool { return sent.Load() == 2 })
}

// TestBound is what the threshold comes to in tokens.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		value   string
		batched int
		want    int
	}{{"off", 64, -1}, {"0", 64, 1}, {"2", 64, 128}, {"0.5", 0, 4096}} {
		var k Knobs
		if err := k.Set("router.queue_threshold", c.value); err != nil || k.bound(c.batched) != c.want {
			t.Errorf("%s of %d: %d, %v; want %d", c.value, c.batched, k.bound(c.batched), err, c.want)
		}
	}
	if got := new(Knobs).bound(64); got != 0 {
		t.Errorf("the default is %d", got)
	}
}
