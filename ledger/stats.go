package ledger

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// Stat sums the turns of one agent of one session. Nil is unknown.
type Stat struct {
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Parent  string    `json:"parent"`
	Harness string    `json:"harness"`
	Model   string    `json:"model"` // of the last turn
	First   time.Time `json:"first_at"`
	Last    time.Time `json:"last_at"`

	Turns    int   `json:"turns"`
	Failed   int   `json:"failed"` // outcome "fail" or "reject"
	Prompt   int64 `json:"prompt_tokens"`
	Cached   int64 `json:"cached_tokens"`
	Output   int64 `json:"output_tokens"`
	Thinking int64 `json:"thinking_tokens"`

	Hit *float64 `json:"hit"`         // cached / prompt, of turns whose engine told both
	P50 *float64 `json:"ttft_p50_ms"` // exact, nearest rank, of turns that had a token
	P95 *float64 `json:"ttft_p95_ms"`
}

// statsQuery ranks the first-token times of each agent and numbers its turns
// from the last one back, then sums; each turn is one row of picked.
const statsQuery = `
WITH picked AS (
  SELECT *, ttft_ms >= 0 AS told,
    row_number() OVER (PARTITION BY session, agent, ttft_ms >= 0 ORDER BY ttft_ms) AS rank,
    count(*) OVER (PARTITION BY session, agent, ttft_ms >= 0) AS n,
    row_number() OVER (PARTITION BY session, agent ORDER BY at DESC, rowid DESC) AS back
  FROM turns WHERE COND
)
SELECT session, agent, max(parent), max(harness), max(model) FILTER (WHERE back = 1),
  min(at), max(at), count(*), sum(outcome IN ('fail', 'reject')),
  sum(max(prompt_tokens, 0)), sum(max(cached_tokens, 0)), sum(max(output_tokens, 0)),
  sum(max(thinking_tokens, 0)),
  sum(cached_tokens) FILTER (WHERE prompt_tokens > 0 AND cached_tokens >= 0),
  sum(prompt_tokens) FILTER (WHERE prompt_tokens > 0 AND cached_tokens >= 0),
  min(ttft_ms) FILTER (WHERE told AND rank * 100 >= n * 50),
  min(ttft_ms) FILTER (WHERE told AND rank * 100 >= n * 95)
FROM picked GROUP BY session, agent ORDER BY max(at) DESC, session, agent LIMIT ?`

// Stats sums turns per session and agent, the agent with the latest turn
// first; the limit counts agents.
func (r *Reader) Stats(ctx context.Context, q Query) ([]Stat, error) {
	cond, args := q.where("at")
	query := strings.Replace(statsQuery, "COND", cond, 1)
	return read(ctx, r.db, "stats", query, append(args, q.limit()),
		func(scan func(...any) error) (s Stat, err error) {
			var first, last int64
			var cached, prompt sql.NullInt64
			var p50, p95 sql.NullFloat64
			err = scan(&s.Session, &s.Agent, &s.Parent, &s.Harness, &s.Model, &first, &last,
				&s.Turns, &s.Failed, &s.Prompt, &s.Cached, &s.Output, &s.Thinking,
				&cached, &prompt, &p50, &p95)
			s.First, s.Last = instant(first), instant(last)
			s.P50, s.P95 = known64(p50), known64(p95)
			if prompt.Int64 > 0 {
				hit := float64(cached.Int64) / float64(prompt.Int64)
				s.Hit = &hit
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
