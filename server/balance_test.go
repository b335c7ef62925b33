package server

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/agentinfer/dyn/ledger"
)

// settles waits until nothing is on its way any more: no turn, none in the
// queue, no seat taken, nothing in the books of any worker.
func settles(t *testing.T, s *Server, until func(string, func() bool)) {
	t.Helper()
	until("all turns have landed", func() bool {
		aloft := 0
		s.aloft.Range(func(any, any) bool { aloft++; return true })
		return aloft == 0 && s.streaming.Load() == 0
	})
	for _, m := range s.all() {
		until("queue and seats are empty", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.queue.Len() == 0 && len(m.waiting) == 0 && len(m.seats) == 0
		})
		m.mu.Lock()
		for name, b := range m.members {
			if c := m.load(name, b); c.InFlight != b.foreign || c.Pending != 0 {
				t.Errorf("worker %s has no turn and is taken to have %d, and %d tokens to compute", name, c.InFlight-b.foreign, c.Pending)
			}
		}
		m.mu.Unlock()
	}
	if p := s.draw(s.started); p.Queue.Depth != 0 || p.Queue.Waiting != 0 || p.Queue.Prefill != 0 {
		t.Errorf("nothing is on its way, and the queue shows %+v", p.Queue)
	}
	until("nobody is watched", func() bool {
		s.watches.mu.Lock()
		defer s.watches.mu.Unlock()
		return len(s.watches.list) == 0
	})
}

// balances holds what was counted against the rows of the ledger: one for each
// turn, and their sums are those of the metrics.
func balances(t *testing.T, s *Server, page string, rows []ledger.Turn) {
	t.Helper()
	ids := map[string]bool{}
	want := map[string]int64{
		"dyn_turns_total": 0, "dyn_turns_failed_total": 0, "dyn_turns_canceled_total": 0, "dyn_turns_moved_total": 0,
		"dyn_prompt_tokens_total": 0, "dyn_cached_tokens_total": 0, "dyn_output_tokens_total": 0, "dyn_ledger_lost_rows_total": 0, "dyn_panics_total": 0,
	}
	for _, row := range rows {
		if ids[row.ID] {
			t.Errorf("turn %s has two rows", row.ID)
		}
		ids[row.ID] = true
		want["dyn_turns_total"]++
		want["dyn_turns_moved_total"] += int64(row.Moved)
		switch row.Outcome {
		case "fail":
			want["dyn_turns_failed_total"]++
		case "cancel":
			want["dyn_turns_canceled_total"]++
		case "reject":
		default:
			want["dyn_prompt_tokens_total"] += int64(row.Prompt)
			want["dyn_cached_tokens_total"] += int64(max(row.Cached, 0))
			want["dyn_output_tokens_total"] += int64(row.Output)
		}
		if row.Worker != "" && !explained(t, row) {
			t.Errorf("turn %s went to %s, by %s", row.ID, row.Worker, row.Decision)
		}
	}
	for name, sum := range want {
		found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindStringSubmatch(page)
		if found == nil {
			t.Errorf("the metrics have no %s", name)
		} else if n, _ := strconv.ParseInt(found[1], 10, 64); n != sum {
			t.Errorf("the metrics have %s %d, the ledger's rows sum up to %d", name, n, sum)
		}
	}
}

// landed reads all rows once there are as many as turns that landed. Each of
// them has an outcome.
func landedRows(t *testing.T, s *Server, path string) []ledger.Turn {
	t.Helper()
	n := int(s.count.turns.Load())
	rows := (&rig{t: t, path: path}).rows(n)
	if len(rows) != n {
		t.Errorf("%d turns landed, the ledger has %d", n, len(rows))
	}
	return rows
}

// ends are what an answer of each dialect ends with, as a stream.
var ends = map[string]*regexp.Regexp{
	"/v1/messages":         regexp.MustCompile(`(?m)^event: (message_stop|error)$`),
	"/v1/chat/completions": regexp.MustCompile(`(?m)^data: (\[DONE\]|\{"error")`),
	"/v1/responses":        regexp.MustCompile(`(?m)^event: (response\.completed|response\.incomplete|response\.failed|error)$`),
}

// ended tells how a stream ended, and fails the test unless it did once.
func ended(t *testing.T, path, stream string) string {
	t.Helper()
	found := ends[path].FindAllStringSubmatch(stream, -1)
	words := make([]string, len(found))
	for i := range found {
		words[i] = found[i][1]
	}
	if path == chatPath && len(words) == 2 && words[1] == "[DONE]" && words[0] != words[1] {
		words = words[:1] // who was told of an error is told the end too
	}
	if len(words) != 1 {
		t.Errorf("%s ends %d times: %s", path, len(words), fmt.Sprint(words, " ", stream[max(len(stream)-600, 0):]))
		return ""
	}
	if slices.Contains([]string{"error", `{"error"`, "response.failed"}, words[0]) {
		return "fail"
	}
	return "end"
}
