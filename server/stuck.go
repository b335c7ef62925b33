package server

import (
	"fmt"
	"time"
)

// stuckAfter is how long a worker may show no sign of work, though turns wait
// for it, before turns go to any other that works: the engine's own watch asks
// for a token and ends it only much later, since to start it anew takes
// minutes. It may only be slow with a prompt, so that alone it is still given
// turns, and it has them again with the first sign.
const stuckAfter = 10 * time.Second

// feel looks how long each worker has been quiet.
func (m *model) feel() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.members {
		b.quiet = b.worker.Load().Quiet
	}
}

// stuck says for a person that nothing comes of a worker, see
// route.Candidate; "" while it works. The model's mutex must be held.
func (b *member) stuck() string {
	if b.quiet < stuckAfter {
		return ""
	}
	return fmt.Sprintf("nothing has come for %v, though turns wait there", b.quiet.Round(time.Second))
}
