package check

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/agentinfer/dyn/prompt"
)

// Sum is a sum of the prompts that m makes of the conversations today. While it
// is the same, a Report of an engine that was not started anew is still true.
// It takes a few milliseconds.
func Sum(m *prompt.Model) string {
	h := sha256.New()
	var bytes []byte
	for _, t := range conversations() {
		prompt.Steady(&t.turn)
		ours, err := own(m, &t.turn, time.Now())
		bytes = binary.LittleEndian.AppendUint64(bytes[:0], uint64(len(ours.ids)))
		for _, id := range ours.ids {
			bytes = binary.LittleEndian.AppendUint32(bytes, id)
		}
		if err != nil {
			bytes = append(bytes, err.Error()...)
		}
		h.Write(bytes)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Whole reports whether nothing of a report may come out otherwise when the
// same engine is asked again: it was compared, and answered.
func (r Report) Whole() bool {
	for _, f := range r.Findings {
		if f.Result == NoAnswer {
			return false
		}
	}
	return len(r.Findings) > 0
}
