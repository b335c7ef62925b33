package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// chunk is what one event of a stream adds to an answer.
type chunk struct{ Text, Reasoning string }

// stream asks the daemon for one turn, gives each chunk to say as it comes,
// and fills in the document. When ctx ends, so does the turn: its connection
// is closed.
func stream(ctx context.Context, s served, body any, doc *runDoc, say func(chunk) error) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := s.request(ctx, "/v1/chat/completions", bytes.NewReader(data))
	if err != nil {
		return err
	}
	began := time.Now()
	since := func() float64 { return float64(time.Since(began).Microseconds()) / 1000 }
	client := s.client
	if client == nil {
		client = &http.Client{Transport: &http.Transport{}} // the daemon is on this machine: no proxy
	}
	resp, err := client.Do(req)
	if err != nil {
		return broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return refusedBy(resp.StatusCode, text)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return broken(ctx, err)
		}
		event, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if !ok {
			continue
		}
		if event = strings.TrimSpace(event); event == "[DONE]" {
			doc.Total = since()
			return nil
		}
		c, err := doc.take([]byte(event))
		if err != nil {
			return err
		}
		if doc.TTFT < 0 && c != (chunk{}) {
			doc.TTFT = since()
		}
		if err := say(c); err != nil {
			return err
		}
	}
}

// request is one request of the public port's, with a JSON body.
func (s served) request(ctx context.Context, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range s.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	return req, nil
}

// extra is what a turn's nvext tells where it was asked to.
type extra struct {
	Worker struct {
		Decode string `json:"decode_worker_id"`
	} `json:"worker_id"`
	Hit struct {
		Cached int `json:"cached_tokens"` // -1 is unknown
	} `json:"hit"`
}

// take adds one event to the document.
func (d *runDoc) take(event []byte) (chunk, error) {
	var e struct {
		Choices []struct {
			Delta struct {
				Content   string `json:"content"`
				Reasoning string `json:"reasoning_content"`
			} `json:"delta"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage *struct {
			Prompt  int `json:"prompt_tokens"`
			Output  int `json:"completion_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
		Extra *extra `json:"nvext"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return chunk{}, fail(failed, "run", fmt.Errorf("the daemon sent what is no answer: %w", err), "", "dyn logs")
	}
	if e.Error != nil {
		return chunk{}, fail(unhealthy, "run", errors.New(e.Error.Message), "the answer ends here", "dyn ps")
	}
	if e.Extra != nil {
		d.extra = *e.Extra
	}
	if u := e.Usage; u != nil {
		d.Prompt, d.Output, d.Cached = u.Prompt, u.Output, u.Details.Cached
	}
	var c chunk
	for _, choice := range e.Choices {
		c.Text += choice.Delta.Content
		c.Reasoning += choice.Delta.Reasoning
		if choice.Finish != "" {
			d.Finish = choice.Finish
		}
	}
	d.Text += c.Text
	d.Reasoning += c.Reasoning
	return c, nil
}

// broken is why a connection to the daemon ended before the answer did.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fail(unhealthy, "run", fmt.Errorf("the daemon broke off: %w", err), "", "dyn logs")
}

// refusedBy reads the daemon's error document.
func refusedBy(status int, body []byte) error {
	var doc struct {
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
	}
	message := http.StatusText(status)
	if json.Unmarshal(body, &doc) == nil && doc.Error.Message != "" {
		message = doc.Error.Message
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fail(usage, "run", errors.New(message), "DYN_API_KEY names the key that is sent", "dyn key ls")
	case doc.Error.Code == "context_length_exceeded":
		return fail(usage, "run", errors.New(message), "", "head -c 10000 <file> | dyn run")
	case status >= 500:
		return fail(unhealthy, "run", errors.New(message), "", "dyn ps")
	}
	return fail(usage, "run", errors.New(message), "", "dyn run --help")
}
