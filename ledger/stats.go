package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// By says what a Stat sums the turns of.
type By string

// What turns can be summed by.
const (
	ByAgent  By = "agent" // one agent of one session
	ByKind   By = "kind"
	ByTenant By = "tenant"
	ByWorker By = "worker" // that answered last
	ByModel  By = "model"
)

// grouping says what makes a group, which columns its turns need for that,
// and how session, agent, parent, harness, kind, tenant and worker are told of it.
type grouping struct{ by, columns, told string }

var groupings = map[By]grouping{
	ByAgent:  {"session, agent", "session, agent, parent, harness", "session, agent, max(parent), max(harness), '', '', ''"},
	ByKind:   {"kind", "kind", "'', '', '', '', kind, '', ''"},
	ByTenant: {"tenant", "tenant", "'', '', '', '', '', tenant, ''"},
	ByWorker: {"model, worker", "model, worker", "'', '', '', '', '', '', worker"},
	ByModel:  {"model", "model", "'', '', '', '', '', '', ''"},
}

// Stat sums the turns of one agent, kind, tenant, worker or model. What a group does not
// have in common is empty. Nil is unknown.
type Stat struct {
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Parent  string    `json:"parent"`
	Harness string    `json:"harness"`
	Kind    string    `json:"kind"`
	Tenant  string    `json:"tenant"`
	Worker  string    `json:"worker"`
	Model   string    `json:"model"` // of the last turn
	First   time.Time `json:"first_at"`
	Last    time.Time `json:"last_at"`

	Turns    int   `json:"turns"`
	Failed   int   `json:"failed"`    // outcome "fail" or "reject"
	Edited   int   `json:"edited"`    // sum of Turn.Edited
	Flawed   int   `json:"flawed"`    // sum of Turn.Flawed
	Chats    int   `json:"chat_path"` // turns that went to a worker's own chat API
	Prompt   int64 `json:"prompt_tokens"`
	Cached   int64 `json:"cached_tokens"`
	Output   int64 `json:"output_tokens"`
	Thinking int64 `json:"thinking_tokens"`

	Overlap *float64 `json:"overlap"`     // what the router believed to be cached / prompt, of the turns that hit is of
	Hit     *float64 `json:"hit"`         // cached / prompt, of turns whose engine told both
	P50     *float64 `json:"ttft_p50_ms"` // exact, nearest rank, of turns that had a token
	P95     *float64 `json:"ttft_p95_ms"`
}

// statsQuery ranks the first-token times of each group, then sums; each turn
// is one row of picked, with what is summed only: it is sorted, and a decision
// is longer than all else. The last model is that of the greatest at and row.
const statsQuery = `
WITH picked AS (
  SELECT COLUMNS, at, outcome, edited, flawed, chat <> '' AS chatted, prompt_tokens, cached_tokens, overlap_tokens, output_tokens,
    thinking_tokens, ttft_ms, printf('%020d%020d', at, rowid) || model AS last, ttft_ms >= 0 AS told,
    row_number() OVER (PARTITION BY GROUPED, ttft_ms >= 0 ORDER BY ttft_ms) AS rank,
    count(*) OVER (PARTITION BY GROUPED, ttft_ms >= 0) AS n
  FROM turns WHERE COND
)
SELECT SHOWN,
  substr(max(last), 41), min(at), max(at), count(*),
  sum(outcome IN ('fail', 'reject')), sum(edited), sum(flawed), sum(chatted),
  sum(max(prompt_tokens, 0)), sum(max(cached_tokens, 0)), sum(max(output_tokens, 0)),
  sum(max(thinking_tokens, 0)),
  sum(cached_tokens) FILTER (WHERE prompt_tokens > 0 AND cached_tokens >= 0),
  sum(prompt_tokens) FILTER (WHERE prompt_tokens > 0 AND cached_tokens >= 0),
  sum(overlap_tokens) FILTER (WHERE prompt_tokens > 0 AND cached_tokens >= 0),
  min(ttft_ms) FILTER (WHERE told AND rank * 100 >= n * 50),
  min(ttft_ms) FILTER (WHERE told AND rank * 100 >= n * 95)
FROM picked GROUP BY GROUPED ORDER BY max(at) DESC, GROUPED LIMIT ?`

// Stats sums turns, the group with the latest turn first; the limit counts
// groups.
func (r *Reader) Stats(ctx context.Context, by By, q Query) ([]Stat, error) {
	cond, args := q.where("at")
	g, ok := groupings[by]
	if !ok {
		return nil, fmt.Errorf("read stats: nothing is summed by %q", by)
	}
	query := strings.NewReplacer("COND", cond, "COLUMNS", g.columns, "SHOWN", g.told, "GROUPED", g.by).Replace(statsQuery)
	return read(ctx, r.db, "stats", query, append(args, q.limit()),
		func(scan func(...any) error) (s Stat, err error) {
			var first, last int64
			var cached, prompt, overlap sql.NullInt64
			var p50, p95 sql.NullFloat64
			err = scan(&s.Session, &s.Agent, &s.Parent, &s.Harness, &s.Kind, &s.Tenant, &s.Worker, &s.Model, &first, &last,
				&s.Turns, &s.Failed, &s.Edited, &s.Flawed, &s.Chats, &s.Prompt, &s.Cached, &s.Output, &s.Thinking,
				&cached, &prompt, &overlap, &p50, &p95)
			s.First, s.Last = instant(first), instant(last)
			s.P50, s.P95 = known64(p50), known64(p95)
			if prompt.Int64 > 0 {
				hit, believed := float64(cached.Int64)/float64(prompt.Int64), float64(overlap.Int64)/float64(prompt.Int64)
				s.Hit, s.Overlap = &hit, &believed
			}
			return s, err
		})
}

// known64 returns nil for NULL.
func known64(v sql.NullFloat64) *float64 {
	if !v.Valid {
		return nil
	}
	return &v.Float64
}
