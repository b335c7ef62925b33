package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
)

// side is what came of a run, in the daemon or in replay. Times are ms.
type side struct {
	turns  int
	prompt int // tokens
	cached int
	ttft   float64 // of all together
	failed int
	moved  int
	why    error // of the first that failed
}

// hit is the share of prompt tokens that were cached.
func (s side) hit() float64 { return float64(s.cached) / float64(max(s.prompt, 1)) }

// mean is the mean time to the first token.
func (s side) mean() float64 { return s.ttft / float64(max(s.turns, 1)) }

// player plays a load through a daemon.
type player struct {
	url    string
	block  int
	client *http.Client
	began  time.Time
	warm   time.Duration // turns that end before are not counted

	mu  sync.Mutex
	sum side
}

// answer is what a turn brought.
type answer struct {
	Nvext struct {
		Hit struct {
			Prompt int `json:"prompt_tokens"`
			Cached int `json:"cached_tokens"`
		}
		Worker struct {
			Name string `json:"decode_worker_id"`
		} `json:"worker_id"`
		Timing struct {
			TTFT float64 `json:"ttft_ms"`
		}
		IDs []uint32 `json:"completion_token_ids"`
	}
}

// play plays all sessions, and returns what came when the time is over.
func play(ctx context.Context, url string, t *trace.Trace, warm, measure time.Duration) side {
	p := &player{url: url, block: t.Block, began: time.Now(), warm: warm}
	p.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(t.Sessions)}}
	defer p.client.CloseIdleConnections()
	ctx, stop := context.WithDeadline(ctx, p.began.Add(warm+measure))
	defer stop()
	var all sync.WaitGroup
	for i := range t.Sessions {
		all.Go(func() { p.session(ctx, &t.Sessions[i]) })
	}
	all.Wait()
	return p.sum
}

// session plays one.
func (p *player) session(ctx context.Context, s *trace.Session) {
	l, home := newLine(s.ID, p.block), ""
	rest := s.At
	for i := range s.Turns {
		u := &s.Turns[i]
		if i > 0 {
			rest = u.Pause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
		a, err := p.turn(ctx, s.ID, l.next(u), u.Output, i == len(s.Turns)-1)
		if ctx.Err() != nil {
			return
		}
		l.answer = a.Nvext.IDs
		p.count(a, err, home)
		home = a.Nvext.Worker.Name
	}
}

// count takes a turn that ended.
func (p *player) count(a answer, err error, home string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := &a.Nvext
	switch {
	case time.Since(p.began) <= p.warm:
	case err != nil:
		if p.sum.failed++; p.sum.why == nil {
			p.sum.why = err
		}
	default:
		p.sum.turns++
		p.sum.prompt += x.Hit.Prompt
		p.sum.cached += x.Hit.Cached
		p.sum.ttft += x.Timing.TTFT
		if home != "" && home != x.Worker.Name {
			p.sum.moved++
		}
	}
}

// turn sends one turn and waits for its answer.
func (p *player) turn(ctx context.Context, session string, prompt []uint32, output int, last bool) (a answer, err error) {
	body := append(make([]byte, 0, 6*len(prompt)+256), `{"model":"sim","prompt":[`...)
	for i, id := range prompt {
		if i > 0 {
			body = append(body, ',')
		}
		body = strconv.AppendUint(body, uint64(id), 10)
	}
	body = fmt.Appendf(body, `],"max_tokens":%d,"ignore_eos":true,"temperature":0,"nvext":{"extra_fields":["hit","worker_id","timing","completion_token_ids"],"agent_hints":{"session_final":%t}}}`, output, last)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/completions", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Dyn-Session-Id", session)
	resp, err := p.client.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return a, err
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("status %d: %s", resp.StatusCode, text[:min(len(text), 300)])
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, err
	}
	if x := a.Nvext.Hit; x.Prompt != len(prompt) || x.Cached < 0 || len(a.Nvext.IDs) == 0 {
		return a, fmt.Errorf("the daemon tells no figures: %s", text[:min(len(text), 300)])
	}
	return a, nil
}
