package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/agentbench"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/turn"
)

// arm is what came of one strategy at one level.
type arm struct {
	all      agentbench.Tally
	sessions []agentbench.Tally // round by round
}

// run measures, and prints what came.
func (b *bench) run(ctx context.Context, a *app, s served, show *jsonFlag) error {
	before, err := b.looks(ctx, a, &s)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) {
		if !show.on() {
			fmt.Fprintf(a.err, format+"\n", args...)
		}
	}
	say("%s of pauses, and the turns between them", b.lasts().Round(time.Second))
	doc := b.doc(s, readyWorkers(before, s.Model))
	if doc.Workers < 2 {
		say("! %s is ready for %s: no strategy can change anything", plural(doc.Workers, "worker"), s.Model)
	}
	for i, n := range b.levels {
		arms, err := b.level(ctx, s, n, i == len(b.levels)-1, say)
		if err != nil {
			return err
		}
		doc.add(n, b.labels(), arms, b.load.Seed)
	}
	c, err := a.control()
	if err != nil {
		return err
	}
	if after, err := c.Now(ctx); err == nil {
		doc.Foreign = max(int(after.Totals.Turns-before.Totals.Turns)-doc.turns(), 0)
	}
	if show.on() {
		return show.print(a.out, doc)
	}
	return doc.show(a)
}

// looks sees that the daemon would do what is asked, and finds how many words
// make a token.
func (b *bench) looks(ctx context.Context, a *app, s *served) (snapshot.Snapshot, error) {
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: sessionsMost}}
	b.load.Mark = fmt.Sprintf("%08x", rand.Uint32())
	if need := b.load.Context(); s.Context > 0 && need > s.Context {
		return snapshot.Snapshot{}, fail(usage, "bench agent", fmt.Errorf("a session may take %d tokens, the context of %s is %d", need, s.Model, s.Context), "",
			fmt.Sprintf("dyn bench agent --prefix %d --turns %d", max(s.Context/2, 1), max(b.load.Turns/2, 1)))
	}
	for _, name := range b.arms { // also asks whether the key may
		err := s.post(ctx, "/v1/route/best_worker", map[string]any{"model": s.Model, "messages": []agentbench.Message{{Role: "user", Content: "hello"}}},
			http.Header{"X-Dyn-Router-Strategy": {name}, "X-Dyn-Strict": {"true"}}, nil)
		if err != nil {
			return snapshot.Snapshot{}, benchRefused(err)
		}
	}
	var counted struct{ Count int }
	b.load.Words = guessedWords
	plain := b.load
	plain.Words = 1
	if s.post(ctx, "/tokenize", map[string]any{"model": s.Model, "messages": []agentbench.Message{{Role: "system", Content: plain.System()}}}, nil, &counted) == nil && counted.Count > 0 {
		b.load.Words = float64(b.load.Prefix) / float64(counted.Count)
	}
	c, err := a.control()
	if err != nil {
		return snapshot.Snapshot{}, err
	}
	return c.Now(ctx)
}

// guessedWords is how many words make a token where the daemon cannot count.
const guessedWords = 0.8

// level runs one level: every round under every strategy, the order turned
// round from one to the next.
func (b *bench) level(ctx context.Context, s served, n int, last bool, say func(string, ...any)) ([]arm, error) {
	arms := make([]arm, len(b.arms))
	for r := range b.rounds {
		for k := range b.arms {
			i := (k + r) % len(b.arms)
			l := b.load
			l.Sessions, l.Round = n, r
			l.Mark = fmt.Sprintf("%s-%d-%d-%d", b.load.Mark, n, r, i)
			turns := agentbench.Round(ctx, l, b.ask(s, l, b.arms[i]), func(t agentbench.Turn) {
				if t.Err != nil && ctx.Err() == nil {
					say("! %s, session %d, turn %d: %v", b.arms[i], t.Session, t.Turn+1, t.Err)
				}
			})
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			y := agentbench.Sum(turns)
			say("%s, round %d, %s: ttft %s, hit %s", plural(n, "session"), r+1, b.arms[i], ms(y.Mean()), percent(told(y.Hit())))
			for _, t := range turns {
				arms[i].all.Add(t)
			}
			arms[i].sessions = append(arms[i].sessions, agentbench.Sessions(n, turns)...)
			if last && r == 0 && i == 0 && b.export != "" {
				if err := writeTrace(b.export, l, turns); err != nil {
					return nil, err
				}
			}
		}
	}
	return arms, nil
}

// ask sends turns of a round to the daemon, under a strategy.
func (b *bench) ask(s served, l agentbench.Load, strategy string) agentbench.Ask {
	return func(ctx context.Context, q agentbench.Request) (agentbench.Answer, error) {
		one := s
		one.header = http.Header{
			"X-Dyn-Router-Strategy": {strategy}, "X-Dyn-Strict": {"true"}, "X-Dyn-Extra-Fields": {"hit,worker_id"},
			"X-Dyn-Session-Id": {fmt.Sprintf("bench-%s-%d", l.Mark, q.Session)}, "X-Dyn-Session-Final": {fmt.Sprint(q.Last)},
		}
		doc := runDoc{Prompt: -1, Cached: -1, Output: -1, TTFT: -1}
		err := stream(ctx, one, map[string]any{
			"model": s.Model, "stream": true, "stream_options": map[string]bool{"include_usage": true}, "messages": q.Messages,
			"max_tokens": l.Output, "ignore_eos": true, "temperature": 0, "seed": l.Seed,
		}, &doc, func(chunk) error { return nil })
		return agentbench.Answer{
			Text: doc.Text, Reasoning: doc.Reasoning, TTFT: time.Duration(doc.TTFT * float64(time.Millisecond)),
			Prompt: doc.Prompt, Cached: doc.extra.Hit.Cached, Output: doc.Output, Worker: doc.extra.Worker.Decode,
		}, err
	}
}

// post sends a document to the daemon's public port, and reads the answer into
// v where that is not nil. A refusal is a *failure of run's.
func (s served) post(ctx context.Context, path string, body any, header http.Header, v any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	s.header = header
	req, err := s.request(ctx, path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return broken(ctx, err)
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	switch {
	case err != nil:
		return broken(ctx, err)
	case resp.StatusCode != http.StatusOK:
		return refusedBy(resp.StatusCode, data)
	case v == nil:
		return nil
	}
	return json.Unmarshal(data, v)
}

// benchRefused says what a daemon does not let us do.
func benchRefused(err error) error {
	var f *failure
	if errors.As(err, &f) {
		f.Op = "bench agent"
	}
	return err
}

// readyWorkers counts the workers that take turns for a model.
func readyWorkers(p snapshot.Snapshot, model string) (n int) {
	for _, w := range p.Workers {
		if w.Model == model && w.State == string(turn.Ready) {
			n++
		}
	}
	return n
}

// writeTrace writes a round's load to a file.
func writeTrace(path string, l agentbench.Load, turns []agentbench.Turn) error {
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(agentbench.Export(f, l, turns), f.Close())
	}
	if err != nil {
		return fail(failed, "bench agent", fmt.Errorf("write trace: %w", err), "", "dyn bench agent --export trace.jsonl")
	}
	return nil
}

// told is a figure, nil for one below 0.
func told(x float64) *float64 {
	if x < 0 {
		return nil
	}
	return &x
}
