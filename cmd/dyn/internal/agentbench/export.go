package agentbench

import (
	"encoding/json"
	"io"
	"slices"
)

// TraceBlock is how many tokens a block of a trace has.
const TraceBlock = 512

// row is a request of a Mooncake trace (kvcache-ai/Mooncake FAST25-release), as
// AIPerf's mooncake_trace reads it: the whole prompt each time. There is no
// session_id, with which AIPerf would take a row for what is added to the one
// before.
type row struct {
	At     int64 `json:"timestamp"` // ms
	Input  int   `json:"input_length"`
	Output int   `json:"output_length"`
	Hashes []int `json:"hash_ids"`
}

// Export writes the turns of a round as a trace, in the order of their starts.
// Equal ids are equal prefixes: blocks inside the shared prefix have the same in
// all sessions, others one of their session, and the unfinished one at a prompt's
// end one of its own.
func Export(w io.Writer, l Load, turns []Turn) error {
	turns = slices.Clone(turns)
	slices.SortStableFunc(turns, func(a, b Turn) int { return int(a.At - b.At) })
	type place struct{ session, block, turn int }
	ids := map[place]int{}
	enc := json.NewEncoder(w)
	for _, t := range turns {
		if t.Err != nil || t.Prompt <= 0 {
			continue
		}
		r := row{At: t.At.Milliseconds(), Input: t.Prompt, Output: max(t.Output, 1), Hashes: []int{}}
		for block := 0; block*TraceBlock < t.Prompt; block++ {
			p := place{t.Session, block, -1}
			switch end := (block + 1) * TraceBlock; {
			case end <= l.Prefix:
				p.session = -1
			case end > t.Prompt:
				p.turn = t.Turn
			}
			id, ok := ids[p]
			if !ok {
				id = len(ids)
				ids[p] = id
			}
			r.Hashes = append(r.Hashes, id)
		}
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
