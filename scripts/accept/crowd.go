package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
)

// turns is how many the crowd has: more than there are slots.
const turns = 15

// ttl is what every turn of the crowd asks its prefix to be kept for.
const ttl = 300.0

// crowd sends more turns at once than the workers have slots, and compares
// what the daemon shows with what the crowd itself sees.
func crowd(ctx context.Context, url, dyn string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var started, ended atomic.Int64
	var wait sync.WaitGroup
	errs := make(chan error, turns)
	for i := range turns {
		wait.Go(func() {
			err := slow(ctx, post{url}, i, func() { started.Add(1) })
			ended.Add(1)
			if err != nil {
				errs <- fmt.Errorf("turn %d: %w", i, err)
			}
		})
	}
	if err := standing(ctx, dyn, &started, &ended); err != nil {
		return err
	}
	wait.Wait()
	close(errs)
	if err := errors.Join(collect(errs)...); err != nil {
		return err
	}
	return decisions(ctx, dyn)
}

func collect(errs <-chan error) []error {
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return all
}

// slow is one turn that takes its time; first is called at its first token.
func slow(ctx context.Context, p post, i int, first func()) error {
	block := map[string]any{
		"type": "text", "text": fmt.Sprintf("%s ACCEPT crowd %d", prose(strconv.Itoa(i), 200), i),
		"cache_control": map[string]any{"type": "ephemeral", "ttl": "5m"},
	}
	body := map[string]any{
		"model": "sim", "max_tokens": 200, "stream": true,
		"messages": []any{map[string]any{"role": "user", "content": []any{block}}},
	}
	head := map[string]string{"anthropic-version": "2023-06-01", "X-Claude-Code-Session-Id": fmt.Sprintf("crowd-%d", i)}
	seen := false
	return p.events(ctx, "/v1/messages", head, body, func(data []byte) (bool, error) {
		var e struct{ Type string }
		if err := json.Unmarshal(data, &e); err != nil {
			return false, err
		}
		if e.Type == "content_block_delta" && !seen {
			seen = true
			first()
		}
		return e.Type != "message_stop", nil
	})
}

// standing compares pictures with the crowd while it stands: the workers are
// full, and nothing begins or ends for a while.
func standing(ctx context.Context, dyn string, started, ended *atomic.Int64) error {
	var last error = errors.New("the crowd never stood")
	for range 60 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
		before, done := started.Load(), ended.Load()
		s, err := picture(ctx, dyn)
		if err != nil {
			return err
		}
		text, err := exec.CommandContext(ctx, dyn, "top", "--once").Output()
		if err != nil {
			return fmt.Errorf("dyn top --once: %w", err)
		}
		slots := 0
		for _, w := range s.Workers {
			slots += w.Slots
		}
		if done > 0 {
			return fmt.Errorf("a turn ended first: %w", last)
		}
		if int(before) < slots || before != started.Load() {
			continue
		}
		if last = compare(ctx, s, string(text), turns-int(before)); last == nil {
			fmt.Printf("ok: %d of %d turns wait; queue, leases and tiers are as the crowd and the engines say, frame too\n", turns-int(before), turns)
			return nil
		}
	}
	return last
}

// compare checks one picture. unstarted is how many turns have no first token
// by the crowd's own count.
func compare(ctx context.Context, s snapshot.Snapshot, text string, unstarted int) error {
	if s.Queue.Depth != unstarted || s.Queue.Depth != s.Queue.Waiting+s.Queue.Prefill {
		return fmt.Errorf("queue depth is %d (%d wait, %d prefill), %d turns have no first token", s.Queue.Depth, s.Queue.Waiting, s.Queue.Prefill, unstarted)
	}
	if unstarted == 0 {
		return errors.New("no turn waits: the crowd is too small")
	}
	if !regexp.MustCompile(`queue ` + strconv.Itoa(unstarted) + `\b`).MatchString(text) {
		return fmt.Errorf("the frame does not say queue %d:\n%s", unstarted, text)
	}
	if err := leases(s); err != nil {
		return err
	}
	for _, w := range s.Workers {
		if err := tiers(ctx, w); err != nil {
			return err
		}
		overlap := "–"
		if w.Overlap != nil {
			overlap = fmt.Sprintf("%.2f", *w.Overlap)
		}
		row := fmt.Sprintf(`%s +(ready|busy) +%d +%d +\S+ +%.0f%% +%s `, w.Name, w.Running, w.Waiting, 100*w.KVUsed, regexp.QuoteMeta(overlap))
		if !regexp.MustCompile(row).MatchString(text) {
			return fmt.Errorf("the frame has no row %q:\n%s", row, text)
		}
	}
	row := fmt.Sprintf(`%d asked`, len(s.Leases.Live)) // the largest ones have a row each
	if largest := s.Leases.Live[0]; !strings.Contains(text, row) || !regexp.MustCompile(fmt.Sprintf(`crowd-\d+ +%d +\d+m`, largest.Tokens)).MatchString(text) {
		return fmt.Errorf("the frame does not show %s and %d tokens:\n%s", row, largest.Tokens, text)
	}
	for _, t := range s.Tiers {
		row := fmt.Sprintf(`%s +\S+ +%.0f%%`, t.Name, 100*float64(t.Used)/float64(t.Capacity))
		if !regexp.MustCompile(row).MatchString(text) {
			return fmt.Errorf("the frame has no tier %q:\n%s", row, text)
		}
	}
	return nil
}

// leases checks that every ask is shown, a waiting turn's too, with its
// tokens, blocks and time left.
func leases(s snapshot.Snapshot) error {
	if len(s.Leases.Live) != turns {
		return fmt.Errorf("%d leases are shown, %d were asked for", len(s.Leases.Live), turns)
	}
	for _, l := range s.Leases.Live {
		if l.Tokens <= 0 || l.Blocks != l.Tokens/16 || l.LeftS <= 0 || l.LeftS > ttl || l.TTLS != ttl || l.State != "asked" {
			return fmt.Errorf("lease %+v: want tokens, blocks of 16 and seconds left of %v", l, ttl)
		}
	}
	return nil
}

// tiers checks a worker's GPU tier against the engine's own page.
func tiers(ctx context.Context, w snapshot.Worker) error {
	m, err := metrics(ctx, w.URL)
	if err != nil {
		return err
	}
	for _, t := range w.Tiers {
		if t.Name != "gpu" {
			continue
		}
		want := m["vllm:kv_cache_usage_perc"] * float64(t.Capacity)
		if math.Abs(float64(t.Used)-want) > 16 {
			return fmt.Errorf("%s: tier gpu holds %d tokens in the picture, %.0f by the engine", w.Name, t.Used, want)
		}
		if t.Used == 0 {
			return fmt.Errorf("%s: tier gpu is empty while turns run", w.Name)
		}
		return nil
	}
	return fmt.Errorf("%s: no tier gpu", w.Name)
}

// metrics reads a page of metrics; of several series of a name the last one.
func metrics(ctx context.Context, url string) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	out := map[string]float64{}
	for line := range strings.Lines(string(page)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "{")
		if i := strings.LastIndexByte(rest, ' '); i >= 0 {
			if v, err := strconv.ParseFloat(rest[i+1:], 64); err == nil {
				out[name] = v
			}
		}
	}
	return out, err
}

// decisions compares each worker's overlap with the decisions on record. The
// crowd is the only one that talked to this daemon, less than a window ago.
func decisions(ctx context.Context, dyn string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(1500 * time.Millisecond): // the ledger's second
	}
	s, err := picture(ctx, dyn)
	if err != nil {
		return err
	}
	if err := leases(s); err != nil {
		return err
	}
	data, err := exec.CommandContext(ctx, dyn, "stats", "--turns", "--json=turns").Output()
	if err != nil {
		return fmt.Errorf("dyn stats: %w", err)
	}
	var doc struct{ Turns []ledger.Turn }
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	type sums struct{ turns, prompt, overlap int }
	want := map[string]sums{}
	for _, t := range doc.Turns {
		w := want[t.Worker]
		want[t.Worker] = sums{w.turns + 1, w.prompt + t.Prompt, w.overlap + t.Overlap}
	}
	for _, w := range s.Workers {
		got := sums{w.Decided, w.Prompt, w.Predicted}
		if got != want[w.Name] {
			return fmt.Errorf("%s: the picture has %+v (turns, prompt, overlap), the decisions on record %+v", w.Name, got, want[w.Name])
		}
		if w.Overlap != nil && math.Abs(*w.Overlap-float64(w.Predicted)/float64(w.Prompt)) > 1e-9 {
			return fmt.Errorf("%s: overlap is %v, want %d/%d", w.Name, *w.Overlap, w.Predicted, w.Prompt)
		}
	}
	fmt.Printf("ok: each worker's overlap is that of the %d decisions on record, and every lease is shown\n", len(doc.Turns))
	return nil
}

// picture is `dyn top --once --json`.
func picture(ctx context.Context, dyn string) (snapshot.Snapshot, error) {
	var s snapshot.Snapshot
	data, err := exec.CommandContext(ctx, dyn, "top", "--once", "--json").Output()
	if err != nil {
		return s, fmt.Errorf("dyn top --once --json: %w", err)
	}
	return s, json.Unmarshal(data, &s)
}
