package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// mutator makes requests that nobody should send from those that clients do.
type mutator struct {
	*rand.Rand
	seeds []seed
}

// seed is a request and where its values are.
type seed struct {
	replayed
	values []value
}

// value is a place in a body: a value, and the key before it if it has one.
type value struct{ key, start, end int }

// ownSeeds are there also without recordings.
var ownSeeds = []replayed{
	{path: "/v1/messages", body: []byte(`{"model":"sim","max_tokens":9,"stream":true,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`)},
	{path: "/v1/responses", body: []byte(`{"model":"sim","stream":false,"instructions":"s","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"function_call","call_id":"c","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}],"tools":[{"type":"function","name":"n","parameters":{"type":"object"}}],"reasoning":{"effort":"low"}}`)},
	{path: "/v1/chat/completions", body: []byte(`{"model":"sim","max_tokens":9,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"temperature":0.5}`)},
	{path: "/v1/completions", body: []byte(`{"model":"sim","max_tokens":4,"stream":true,"prompt":["a text",[300,301]],"n":2,"best_of":2,"echo":true,"suffix":null,"logprobs":null,"stop":["x"],"include_stop_str_in_output":true,"stream_options":{"include_usage":true},"nvext":{"annotations":["token_ids","query_instance_id:"],"extra_fields":["timing"]}}`)},
	{path: "/v1/responses/input_tokens", body: []byte(`{"model":"sim","input":[{"role":"user","content":"hi"}],"previous_response_id":null,"tools":[{"type":"function","name":"n"}]}`)},
	{path: "/tokenize", body: []byte(`{"model":"sim","messages":[{"role":"user","content":"hi"}],"add_generation_prompt":false,"return_token_strs":true,"tools":[]}`)},
	{path: "/tokenize", body: []byte(`{"model":"sim","prompt":"hi","return_token_strs":true}`)},
	{path: "/detokenize", body: []byte(`{"model":"sim","tokens":[300,301]}`)},
}

// newMutator takes the recordings where they are, and ownSeeds.
func newMutator(t *testing.T) *mutator {
	m := &mutator{Rand: rand.New(rand.NewSource(envInt(t, "DYN_FUZZ_SEED", 1)))}
	all := slices.Clone(ownSeeds)
	if _, err := os.Stat(os.Getenv("DYN_FIXTURES")); err == nil || os.Getenv("DYN_FIXTURES") == "" {
		t.Run("recordings", func(t *testing.T) { all = append(all, replays(t, true)...) })
	}
	for _, q := range all {
		if len(q.body) == 0 {
			continue
		}
		q.method = "POST"
		m.seeds = append(m.seeds, seed{q, valuesOf(q.body)})
	}
	return m
}

// envInt is a number of the environment.
func envInt(t *testing.T, name string, otherwise int64) int64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// valuesOf finds the values of a JSON document.
func valuesOf(body []byte) (all []value) {
	var open []int // lists and objects that are not ended, by place in all
	key := -1
	begin := func(start, end int) {
		all = append(all, value{key, start, end})
		key = -1
	}
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '{', '[':
			begin(i, 0)
			open = append(open, len(all)-1)
		case '}', ']':
			all[open[len(open)-1]].end = i + 1
			open = open[:len(open)-1]
		case '"':
			start := i
			for i++; body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
			if i+1 < len(body) && body[i+1] == ':' {
				key = start
				continue
			}
			begin(start, i+1)
		case ',', ':', ' ', '\n', '\t':
		default:
			start := i
			for i+1 < len(body) && !strings.ContainsRune(",}] \n", rune(body[i+1])) {
				i++
			}
			begin(start, i+1)
		}
	}
	return all
}

// strange are values that fit nearly nowhere.
var strange = []string{
	`null`, `true`, `false`, `0`, `-1`, `1e400`, `-1e-400`, `9223372036854775808`, `0.1`, `1e9`, `12345678901234567890123`,
	`""`, `"x"`, `"unknown_type"`, `"\ud800"`, `"\u0000"`, `"<|im_end|>"`, `[]`, `{}`, `[[]]`, `[null]`, `[{}]`, `{"":{}}`,
	`{"type":"unknown_type"}`, `[1,"a",{"type":3}]`, `{"type":"text","text":7}`, `NaN`, `'x'`, "\"\xff\xfe\"", "\"a\nb\"",
	strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat(`{"a":`, 12_000) + "1" + strings.Repeat("}", 12_000),
	strings.Repeat("[", 100_000), `"` + strings.Repeat("word ", 3000) + `"`, `[` + strings.Repeat("{},", 3000) + `{}]`,
}

// next makes a request.
func (m *mutator) next() replayed {
	s := &m.seeds[m.Intn(len(m.seeds))]
	q := s.replayed
	if m.Intn(4) == 0 {
		q.body = m.spoil(slices.Clone(q.body))
		return q
	}
	// From the back, so that the places before stay where they are.
	places := make([]value, 1+m.Intn(3))
	for i := range places {
		places[i] = s.values[m.Intn(len(s.values))]
	}
	slices.SortFunc(places, func(a, b value) int { return b.start - a.start })
	limit := len(q.body)
	for _, v := range places {
		if v.end <= limit {
			q.body = m.change(q.body, v)
			limit = min(v.start, max(v.key, 0))
		}
	}
	if m.Intn(20) == 0 {
		q.path = m.seeds[m.Intn(len(m.seeds))].path // another API's
	}
	return q
}

// change does something to one value.
func (m *mutator) change(body []byte, v value) []byte {
	from := v.start
	if v.key >= 0 {
		from = v.key
	}
	member := string(body[from:v.end])
	switch m.Intn(6) {
	case 0: // drop it, with a comma beside it
		end := v.end
		if end < len(body) && body[end] == ',' {
			end++
		} else if from > 0 && body[from-1] == ',' {
			from--
		}
		return slices.Concat(body[:from], body[end:])
	case 1: // twice
		return slices.Concat(body[:v.end], []byte(","+member), body[v.end:])
	case 2: // another value of another request
		other := &m.seeds[m.Intn(len(m.seeds))]
		o := other.values[m.Intn(len(other.values))]
		return slices.Concat(body[:v.start], other.body[o.start:o.end], body[v.end:])
	case 3: // another name
		if v.key >= 0 {
			return slices.Concat(body[:v.key], []byte(`"another":`), body[v.start:])
		}
	}
	return slices.Concat(body[:v.start], []byte(strange[m.Intn(len(strange))]), body[v.end:])
}

// spoil does something to the bytes, whatever they mean.
func (m *mutator) spoil(body []byte) []byte {
	i := m.Intn(len(body))
	j := min(i+1+m.Intn(200), len(body))
	switch m.Intn(6) {
	case 0:
		return body[:i]
	case 1:
		body[i] = byte(m.Intn(256))
		return body
	case 2:
		return slices.Insert(body, i, 0xff, 0xc3, 0x28)
	case 3:
		return slices.Delete(body, i, j)
	case 4:
		return slices.Concat(body[:j], body[i:])
	}
	other := m.seeds[m.Intn(len(m.seeds))].body
	return slices.Concat(body[:i], other[m.Intn(len(other)):])
}

// TestMutatedDecode gives broken requests to the decoders alone: each gives a
// turn, or a problem of the client's that can be told in its dialect.
func TestMutatedDecode(t *testing.T) {
	first := newMutator(t)
	n := envInt(t, "DYN_FUZZ_DECODE", 20_000)
	workers := int64(runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for k := range workers {
		m := &mutator{rand.New(rand.NewSource(first.Int63())), first.seeds}
		group.Go(func() {
			for i := k; i < n && !t.Failed(); i += workers {
				if q := m.next(); decodeFault(q) != "" {
					t.Errorf("%s %s: %s\n%.3000s", q.name, q.path, decodeFault(q), q.body)
				}
			}
		})
	}
	group.Wait()
}

// decodeFault says what is wrong with what the decoder makes of a request.
func decodeFault(q replayed) (fault string) {
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Sprintf("panic: %v", p)
		}
	}()
	es := newRouting(table()).find(strings.Split(q.path, "?")[0])
	if len(es) > 0 && es[0].counts && !strings.HasSuffix(q.path, "count_tokens") {
		return "" // has no decoder of its own
	}
	d := dialectOf(q.path)
	header := func(name string) string {
		for _, h := range q.header {
			if strings.EqualFold(h[0], name) {
				return h[1]
			}
		}
		return ""
	}
	var got *turn.Turn
	var err error
	if d == "" {
		d = turn.Messages
		got, err = dialect.DecodeCount(q.body, header)
	} else {
		got, err = codecOf(d).Decode(q.body, header, nil)
	}
	if err == nil {
		if got == nil || len(got.Messages)+len(got.Prompts) == 0 {
			return "a turn without messages"
		}
		return ""
	}
	var p *dialect.Problem
	if !errors.As(err, &p) {
		return fmt.Sprintf("error %v is no problem", err)
	}
	if status := p.StatusFor(d); status < 400 || status >= 500 {
		return fmt.Sprintf("status %d: %v", status, err)
	}
	if out := codecOf(d).Problem(p, "req_1"); !json.Valid(out) || !refusal(q.path, out) {
		return fmt.Sprintf("problem in a form of its own: %s", out)
	}
	return ""
}

// TestMutatedServe sends broken requests to a server over a simulated engine:
// each is answered as its dialect does, none with a 5xx, a panic or silence,
// and the server is whole afterwards.
func TestMutatedServe(t *testing.T) {
	first := newMutator(t)
	n := envInt(t, "DYN_FUZZ_SERVE", 500)
	r := newRig(t, 1, "--max-model-len=16384")
	const clients = 4
	statuses := map[int]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for k := range int64(clients) {
		m := &mutator{rand.New(rand.NewSource(first.Int63())), first.seeds}
		group.Go(func() {
			for i := k; i < n && !t.Failed(); i += clients {
				q := m.next()
				a, err := r.replay(q)
				if err != nil {
					t.Errorf("%s %s: %v\n%.3000s", q.name, q.path, err, q.body)
					return
				}
				if fault := a.fault(q); fault != "" {
					t.Errorf("%s %s: %s\n%.3000s", q.name, q.path, fault, q.body)
				}
				mu.Lock()
				statuses[a.status]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for _, s := range slices.Sorted(maps.Keys(statuses)) {
		t.Logf("%d: %d", s, statuses[s])
	}
	if statuses[200] == 0 && n > 100 {
		t.Error("no request was served")
	}
	if p := r.s.count.panics.Load(); p > 0 {
		t.Errorf("%d panics", p)
	}
	a, err := r.replay(first.seeds[0].replayed)
	if err != nil || a.fault(first.seeds[0].replayed) != "" {
		t.Errorf("afterwards: %v, %s", err, a.fault(first.seeds[0].replayed))
	}
	r.until("the end of all turns", func() bool { return r.s.Snapshot().Queue.Depth == 0 })
}
