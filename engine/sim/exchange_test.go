package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// exchange is one line of the recordings.
type exchange struct {
	Name, Method, Path, Request, Response string
	Status                                int
	Elided                                int `json:"elided_chunks"`
}

func exchanges(t *testing.T) map[string]exchange {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures(t, "engines/vllm"), "http.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]exchange{}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var e exchange
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		all[e.Name] = e
	}
	return all
}

// outcome is what one exchange came to, however its stream was cut.
type outcome struct {
	Status   int
	Kind     string
	Document any // not a stream: the JSON without what is random, or the text
	Text     string
	IDs      []int
	Prompt   []int
	Finish   any
	Stop     any
	Usage    any
	Failed   any
	Done     bool
	Chunks   int
}

// chunk is one event of a stream.
type chunk struct {
	ID, Object, Model string
	Choices           []struct {
		Index      int
		Text       string
		Finish     any   `json:"finish_reason"`
		Stop       any   `json:"stop_reason"`
		PromptIDs  []int `json:"prompt_token_ids"`
		TokenIDs   []int `json:"token_ids"`
		HasLogprob any   `json:"logprobs"`
	}
	Usage any
	Print string `json:"system_fingerprint"`
	Error any
}

// send writes the recorded bytes of a request and returns the connection.
func (r *rig) send(e exchange) net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	if _, err := io.WriteString(c, e.Request); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// play sends a recorded request and reads what comes.
func (r *rig) play(e exchange) outcome {
	r.t.Helper()
	return read(r.t, r.send(e))
}

func recorded(t *testing.T, e exchange) outcome {
	t.Helper()
	return read(t, strings.NewReader(e.Response))
}

// read reads a response to its end, or to where it is cut.
func read(t *testing.T, from io.Reader) outcome {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(from), nil)
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body) // a recording may be cut
	o := outcome{Status: resp.StatusCode, Kind: resp.Header.Get("Content-Type")}
	if !strings.HasPrefix(o.Kind, "text/event-stream") {
		o.document(body)
		return o
	}
	events := strings.Split(string(body), "\n\n")
	for _, line := range events[:len(events)-1] { // the last one is empty, or cut
		data, ok := strings.CutPrefix(line, "data: ")
		switch {
		case data == "[DONE]":
			o.Done = true
		case ok:
			o.add(t, data)
		}
	}
	return o
}

// document keeps a JSON body without what differs from run to run.
func (o *outcome) document(body []byte) {
	var doc map[string]any
	if json.Unmarshal(body, &doc) != nil {
		o.Document = string(body)
		return
	}
	if id, _ := doc["id"].(string); len(id) == len("cmpl-b83a6ffbaf2c116d") && strings.HasPrefix(id, "cmpl-") {
		delete(doc, "id")
	}
	delete(doc, "created")
	if p, _ := doc["system_fingerprint"].(string); strings.HasPrefix(p, "vllm-0.32.0-") && len(p) == 20 {
		doc["system_fingerprint"] = "vllm-0.32.0-"
	}
	if choices, ok := doc["choices"].([]any); ok {
		c := choices[0].(map[string]any)
		o.Text, _ = c["text"].(string)
		o.Finish, o.Stop = c["finish_reason"], c["stop_reason"]
		if ids, ok := c["token_ids"].([]any); ok {
			for _, id := range ids {
				o.IDs = append(o.IDs, int(id.(float64)))
			}
		}
	}
	o.Document = doc
}

func (o *outcome) add(t *testing.T, data string) {
	t.Helper()
	var c chunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		t.Fatalf("event %s: %v", data, err)
	}
	if o.Chunks++; c.Error != nil {
		o.Failed = c.Error
		return
	}
	if c.Object != "text_completion" || c.ID == "" || c.Model != "tiny" {
		t.Fatalf("event %s", data)
	}
	for _, ch := range c.Choices {
		o.Text += ch.Text
		o.IDs = append(o.IDs, ch.TokenIDs...)
		o.Prompt = append(o.Prompt, ch.PromptIDs...)
		if ch.Finish != nil {
			o.Finish, o.Stop = ch.Finish, ch.Stop
		}
	}
	if c.Usage != nil {
		o.Usage = c.Usage
	}
}

// same compares two outcomes, chunks aside.
func same(t *testing.T, want, got outcome) {
	t.Helper()
	want.Chunks, got.Chunks = 0, 0
	want.Kind, got.Kind = media(want.Kind), media(got.Kind)
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		a, b := w.Field(i).Interface(), g.Field(i).Interface()
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: want %v, got %v", w.Type().Field(i).Name, a, b)
		}
	}
}

func media(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}
