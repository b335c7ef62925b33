package vllm

import (
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/recipes"
)

// Several ranks behind one address share a page: what runs is added up, and the
// share of their caches that is used is that of all.
func TestRanks(t *testing.T) {
	page := func(engines ...string) string {
		var b strings.Builder
		for i, e := range engines {
			label := `{engine="` + e + `",model_name="m"`
			b.WriteString("vllm:num_requests_running" + label + "} " + []string{"1.0", "2.0", "0.0"}[i] + "\n")
			b.WriteString("vllm:kv_cache_usage_perc" + label + "} " + []string{"0.5", "0.1", "0.0"}[i] + "\n")
			b.WriteString("vllm:cache_config_info" + label + `,block_size="16",num_gpu_blocks="101"} 1.0` + "\n")
		}
		return b.String()
	}
	const two = `{"0":{"endpoint":"tcp://127.0.0.1:1"},"1":{"endpoint":"tcp://127.0.0.1:2"}}`
	for _, c := range []struct {
		name, page, sources string
		ranks, running      int
		used                float64
		capacity            int
	}{
		{"one", page("0"), `{"0":{}}`, 1, 1, 0.5, 1616},
		{"two", page("0", "1"), two, 2, 3, 0.3, 3232},
		{"three, and no events", page("0", "1", "2"), `{}`, 3, 3, 0.2, 4848},
		{"by their events alone", "", two, 2, 0, 0, 0},
		{"nothing is told", "", "", 1, 0, 0, 0},
	} {
		m := readMetrics([]byte(c.page))
		l := m.load(time.Time{})
		if got := ranks(m, []byte(c.sources)); got != c.ranks || l.Running != c.running || l.KVUsed < c.used-0.001 || l.KVUsed > c.used+0.001 {
			t.Errorf("%s: %d ranks, load %+v", c.name, got, l)
		}
		if c.capacity > 0 && l.Tiers[0].Capacity != c.capacity {
			t.Errorf("%s: the tier is %+v", c.name, l.Tiers[0])
		}
		if m.kvTokens > 1616 {
			t.Errorf("%s: a prompt has to fit in one rank's cache, not in %d tokens", c.name, m.kvTokens)
		}
	}
}

// Ranks publish at one port after another, of which the first is ours: they are
// not asked to.
func TestLaunchOfRanks(t *testing.T) {
	for _, c := range []struct {
		flags map[string]string
		want  bool
	}{
		{nil, true},
		{map[string]string{"data-parallel-size": "1"}, true},
		{map[string]string{"data-parallel-size": "2"}, false},
		{map[string]string{"data_parallel_size": "8"}, false},
		{map[string]string{"data-parallel-size": "2", "kv-events-config": `{"publisher":"zmq"}`}, true},
	} {
		r := &recipes.Recipe{Name: "r", Model: "m", Engine: "vllm", Command: []string{"vllm", "serve"}, Flags: c.flags}
		l, err := Adapter{}.Launch(engine.Spec{Recipe: r}, engine.Place{Port: 1, Events: "tcp://127.0.0.1:5"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(l.Args, " "), "--kv-events-config"); got != c.want {
			t.Errorf("%v: %q", c.flags, l.Args)
		}
	}
}
