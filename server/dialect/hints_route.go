package dialect

import (
	"strconv"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// weightMost bounds what a turn may set a weight of the router to.
const weightMost = 1e6

// routeWords are what a turn may set of the router for itself: our names, and
// those of Dynamo's RouterConfigOverride (lib/kv-router/src/scheduling/config.rs).
var routeWords map[string]hintWord

func init() { // they call hints' own methods
	strategy := func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Route.Strategy = bounded(r.word(v)) }
	temperature := func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Route.Temperature = r.weight(v) }
	prefill := func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Route.PrefillWeight = r.weight(v) }
	credit := func(r *reader, t *turn.Turn, v tape.Value) { t.Hints.Route.OverlapCredit = r.weight(v) }
	routeWords = map[string]hintWord{
		"strategy":             strategy,
		"temperature":          temperature,
		"router_temperature":   temperature,
		"prefill_weight":       prefill,
		"prefill_load_scale":   prefill,
		"overlap_credit":       credit,
		"overlap_score_credit": credit,
		"overlap_score_weight": formerWeight,
	}
}

// formerWeight is Dynamo's older name for the weight of prefill; 0 also takes
// the credit for what is held away.
func formerWeight(r *reader, t *turn.Turn, v tape.Value) {
	w := r.weight(v)
	if w == nil {
		return
	}
	if t.Hints.Route.PrefillWeight = w; *w == 0 {
		t.Hints.Route.OverlapCredit = w
	}
}

// weight returns a number of 0 or more, or nil.
func (r *reader) weight(v tape.Value) *float64 {
	if !v.Given() {
		return nil
	}
	f, ok := v.Float()
	if v.Kind() != tape.Number || !ok || !(f >= 0 && f <= weightMost) {
		r.fail(v, "must be a number from 0 to %g, not %s", float64(weightMost), cut(string(v.Raw())))
		return nil
	}
	return &f
}

// weight sets a weight to a number of 0 or more.
func weight(w **float64, s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= weightMost) {
		return false
	}
	*w = &f
	return true
}
