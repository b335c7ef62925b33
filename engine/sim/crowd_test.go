package sim

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/brain"
)

// TestCrowd runs many streams at full speed in a cache that is too small for
// them: no token is lost or out of order, and all blocks come back.
func TestCrowd(t *testing.T) {
	for _, policy := range []string{"fcfs", "priority"} {
		t.Run(policy, func(t *testing.T) {
			r := start(t, nil, "--served-model-name", "tiny", "--kv-tokens", "4000", "--scheduling-policy", policy)
			r.script.say(brain.Answer{IDs: count(1000, 100)})
			var all sync.WaitGroup
			for i := range 32 {
				all.Go(func() { r.stream(t, i) })
			}
			all.Wait()
			st := r.engine.Stats()
			if st.Running+st.Waiting != 0 || st.Usage != 0 || st.Output != 32*400 {
				t.Errorf("running %d, waiting %d, usage %v, tokens %d", st.Running, st.Waiting, st.Usage, st.Output)
			}
			if st.Preempted == 0 {
				t.Error("the cache was not too small")
			}
		})
	}
}

// stream reads one answer of 400 tokens and checks every id.
func (r *rig) stream(t *testing.T, i int) {
	body := fmt.Sprintf(`{"prompt":%s,"priority":%d,"max_tokens":400,"ignore_eos":true,"stream":true,"return_token_ids":true}`,
		appendIDs(nil, count(uint32(i), 50)), i%3)
	resp, err := http.Post("http://"+r.addr+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	var text strings.Builder
	if err := resp.Write(&text); err != nil {
		t.Error(err)
	}
	o := read(t, strings.NewReader(text.String()))
	if len(o.IDs) != 400 || !o.Done || o.Finish != "length" {
		t.Errorf("stream %d: %d ids, finish %v", i, len(o.IDs), o.Finish)
	}
	for at, id := range o.IDs {
		if id != 1000+at%100 {
			t.Errorf("stream %d: id %d is %d", i, at, id)
			return
		}
	}
}
