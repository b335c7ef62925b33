package vllm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestLogprobs(t *testing.T) {
	for _, c := range []struct {
		name, data string
		top        int
		want       string
	}{
		{"none", `null`, 2, `[]`},
		{"chosen alone", `{"text_offset":[0],"tokens":["a"],"token_logprobs":[-0.25],"top_logprobs":[{"a":-0.25}]}`, 0, `[{a -0.25 []}]`},
		{
			"two of three", `{"tokens":["a","b"],"token_logprobs":[-3,-0.5],"top_logprobs":[{"a":-3,"x":-1,"y":-2},{"b":-0.5,"é\"":-1e1}]}`, 2,
			`[{a -3 [{x -1 []} {y -2 []}]} {b -0.5 [{b -0.5 []} {é" -10 []}]}]`,
		},
		{"tops first", `{"top_logprobs":[null,{"b":-1}],"tokens":["a","b"],"token_logprobs":[null,-1]}`, 1, `[{a -9999 []} {b -1 [{b -1 []}]}]`},
		{"uneven", `{"tokens":["a"],"token_logprobs":[-1,-2]}`, 1, `[{a -1 []} { -2 []}]`},
		{
			"no numbers", `{"tokens":["a","b","c"],"token_logprobs":[NaN,-Infinity,"x"],"top_logprobs":[{"a":{}},5,{}]}`, 1, `[{a -9999 [{a -9999 []}]} {b -9999 []} {c -9999 []}]`,
		},
		{"of another kind", `[1,2]`, 1, `[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := new(reader).read([]byte(`{"choices":[{"logprobs":` + c.data + `,"text":"ab"}]}`))
			if err != nil || got.text != "ab" {
				t.Fatalf("%+v, %v", got, err)
			}
			if s := fmt.Sprint(best(got.likely, c.top)); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
}

// TestRecordedLogprobs reads what a real server told, as the standard library
// reads it.
func TestRecordedLogprobs(t *testing.T) {
	e, ok := recorded(t)["completion-logprobs"]
	if !ok {
		t.Skip("no recording completion-logprobs")
	}
	_, body, _ := strings.Cut(e.Response, "\r\n\r\n")
	var want struct {
		Choices []struct {
			TokenIDs []uint32 `json:"token_ids"`
			Logprobs struct {
				Tokens []string             `json:"tokens"`
				Values []float64            `json:"token_logprobs"`
				Top    []map[string]float64 `json:"top_logprobs"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		t.Fatal(err)
	}
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", body) })
	s, err := c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 2, Sampling: turn.Sampling{Logprobs: true, TopLogprobs: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := s.Next()
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	told := want.Choices[0]
	if len(d.Logprobs) != len(d.IDs) || len(d.IDs) != len(told.TokenIDs) || d.End == nil {
		t.Fatalf("%d logprobs of %d ids, want %d", len(d.Logprobs), len(d.IDs), len(told.TokenIDs))
	}
	for i, p := range d.Logprobs {
		if p.Token != told.Logprobs.Tokens[i] || p.Value != told.Logprobs.Values[i] || len(p.Top) != len(told.Logprobs.Top[i]) {
			t.Errorf("%d is %+v", i, p)
		}
		for _, q := range p.Top {
			if q.Value != told.Logprobs.Top[i][q.Token] {
				t.Errorf("%d: %q is %v", i, q.Token, q.Value)
			}
		}
	}
}
