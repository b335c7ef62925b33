package llamacpp

import (
	"errors"
	"math"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// event is one step of an answer.
type event struct {
	text      string
	ids       []uint32
	likely    []turn.Logprob
	predicted int // tokens made so far
	progress  progress
	final     *final
	err       error // the server's, in place of a step
}

// progress says how far a prompt is.
type progress struct {
	set       bool
	cached    int
	processed int // the cached ones among them
}

// final is the last event of a whole answer.
type final struct {
	slot      int // -1 when it does not tell
	reason    string
	word      string
	truncated bool
	prompt    int
	predicted int
	holds     int // tokens in the slot now
	cached    int // -1 when it does not tell
}

var errJSON = errors.New("an event that is no JSON object")

// readEvent reads an event's data.
func readEvent(data []byte) (event, error) {
	var e event
	if !remote.Valid(data) || data[0] != '{' {
		return e, errJSON
	}
	stop := false
	f := final{slot: -1, cached: -1}
	gjson.ParseBytes(data).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "content":
			e.text = v.String()
		case "tokens":
			e.ids = readIDs(v)
		case "completion_probabilities":
			e.likely = readLogprobs(v)
		case "tokens_predicted":
			e.predicted = remote.Count(v)
		case "tokens_evaluated":
			f.prompt = remote.Count(v)
		case "prompt_progress":
			e.progress = progress{true, remote.Count(v.Get("cache")), remote.Count(v.Get("processed"))}
		case "error":
			e.err = meaning(int(v.Get("code").Int()), v)
		case "stop":
			stop = v.Type == gjson.True
		case "id_slot":
			f.slot = int(v.Int())
		case "stop_type":
			f.reason = v.Str
		case "stopping_word":
			f.word = v.String()
		case "truncated":
			f.truncated = v.Bool()
		case "tokens_cached":
			f.holds = remote.Count(v)
		case "timings":
			if n := v.Get("cache_n"); n.Exists() {
				f.cached = remote.Count(n)
			}
		}
		return true
	})
	if e.progress.set || e.predicted == 0 {
		e.ids = nil // a 0 in place of none
	}
	if stop {
		f.predicted = e.predicted
		e.final = &f
	}
	return e, nil
}

func readIDs(v gjson.Result) (ids []uint32) {
	v.ForEach(func(_, id gjson.Result) bool {
		if n := id.Int(); n >= 0 && n <= math.MaxUint32 {
			ids = append(ids, uint32(n))
		}
		return true
	})
	return ids
}

// leastLogprob stands for minus infinity.
const leastLogprob = -9999

// readLogprobs reads those of an event's tokens.
func readLogprobs(v gjson.Result) (all []turn.Logprob) {
	v.ForEach(func(_, p gjson.Result) bool {
		one := readLogprob(p)
		p.Get("top_logprobs").ForEach(func(_, q gjson.Result) bool {
			one.Top = append(one.Top, readLogprob(q))
			return true
		})
		all = append(all, one)
		return true
	})
	return all
}

func readLogprob(v gjson.Result) turn.Logprob {
	p := turn.Logprob{Token: v.Get("token").String(), Value: leastLogprob}
	if x := v.Get("logprob"); x.Type == gjson.Number && x.Num > leastLogprob {
		p.Value = x.Num
	}
	return p
}
