package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
)

// sample is one line of the engine's page: a name, the reason in its labels
// where there is one, a value.
var sample = regexp.MustCompile(`(?m)^vllm:(\w+)\{[^}]*?(?:finished_reason="(\w+)")?\} (\S+)$`)

// metrics reads the engine's page; a name with a reason is "name reason".
func (l *lab) metrics(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.engine+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("engine's metrics: status %d", resp.StatusCode)
	}
	return samples(string(page))
}

// samples reads the lines of a page.
func samples(page string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, m := range sample.FindAllStringSubmatch(page, -1) {
		name := m[1]
		if m[2] != "" {
			name += " " + m[2]
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, fmt.Errorf("engine's metrics: %q: %w", m[0], err)
		}
		out[name] = value
	}
	return out, nil
}
