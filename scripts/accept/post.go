package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// post sends requests to a daemon.
type post struct{ url string }

// json posts a document and decodes the answer into out.
func (p post) json(ctx context.Context, path string, head map[string]string, body, out any) error {
	resp, err := p.send(ctx, path, head, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(out)
}

// events posts a document and gives each server-sent event's data to each,
// until it returns false or the stream ends.
func (p post) events(ctx context.Context, path string, head map[string]string, body any, each func(data []byte) (bool, error)) error {
	resp, err := p.send(ctx, path, head, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		data = bytes.TrimSpace(data)
		if !ok || string(data) == "[DONE]" {
			continue
		}
		if more, err := each(data); err != nil || !more {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

func (p post) send(ctx context.Context, path string, head map[string]string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(p.url, "/")+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range head {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return nil, fmt.Errorf("%s: %s: %s", path, resp.Status, text)
	}
	return resp, nil
}
