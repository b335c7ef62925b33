package dialect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// recorded is one request of a real client.
type recorded struct {
	file    string // base name of the recording
	seq     int
	path    string
	headers map[string]string // names in lower case
	body    []byte            // JSON; long texts are cut
	full    []byte            // the same with texts of the recorded lengths
}

// header returns a header's value by any spelling of its name.
func (r *recorded) header(name string) string { return r.headers[strings.ToLower(name)] }

// fixturesDir returns where the fixtures are: DYN_FIXTURES, or beside the repository
// that the working directory is in.
func fixturesDir() string {
	if dir := os.Getenv("DYN_FIXTURES"); dir != "" {
		return dir
	}
	root, _ := filepath.Abs(".")
	for root != filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	return filepath.Join(root, "..", "shared", "fixtures")
}

// loadRecordings returns the requests with a body of all recordings in a folder of
// fixtures, in the order of their files and numbers; none where there are no
// recordings.
func loadRecordings(fixtures string) ([]recorded, error) {
	files, _ := filepath.Glob(filepath.Join(fixtures, "recordings", "*.json"))
	var all []recorded
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		some, err := readRecording(filepath.Base(f), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// readRecording reads one recording.
func readRecording(file string, data []byte) (all []recorded, err error) {
	var doc struct {
		Requests []struct {
			Seq     int
			Path    string
			Headers [][2]string
			Body    map[string]any
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	tools := map[int]any{}
	for _, q := range doc.Requests {
		if q.Body == nil {
			continue
		}
		r := recorded{file: file, seq: q.Seq, path: q.Path, headers: map[string]string{}}
		for _, h := range q.Headers {
			r.headers[strings.ToLower(h[0])] = h[1]
		}
		if ref, ok := q.Body["tools"].(map[string]any); ok {
			seq, _ := ref["$same_as_seq"].(float64)
			q.Body["tools"] = tools[int(seq)]
		}
		tools[q.Seq] = q.Body["tools"]
		if r.body, err = json.Marshal(expand(q.Body, 0)); err != nil {
			return nil, err
		}
		if r.full, err = json.Marshal(expand(q.Body, 1)); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// expand puts texts where a recording cut them: as long as they were, times
// scale.
func expand(v any, scale float64) any {
	switch v := v.(type) {
	case map[string]any:
		if head, ok := v["$head"].(string); ok {
			n, _ := v["$len"].(float64)
			return head + strings.Repeat("some \"text\" of the prompt\n", max(int(n*scale)-len(head), 0)/26)
		}
		out := map[string]any{}
		for k, e := range v {
			out[k] = expand(e, scale)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = expand(e, scale)
		}
		return out
	}
	return v
}
