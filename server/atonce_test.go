package server

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// lingering is a script whose worker takes its time after the end.
type lingering struct {
	script
	closed chan struct{}
}

func (s *lingering) Close() error { <-s.closed; return nil }

// TestRawBeforeTheEnd: who goes on the moment that a stream says that it is
// over gets the answer back as the model gave it.
func TestRawBeforeTheEnd(t *testing.T) {
	tok := simModel(t).Tokenizer()
	said := slices.Concat(tok.Encode(nil, " wo"), tok.Encode(nil, "rd"))
	closed := make(chan struct{})
	jobs := make(chan turn.Job, 2)
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		jobs <- j
		return &lingering{script{ctx, []turn.Delta{{Text: " word", IDs: said, End: &turn.End{
			Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: len(said)},
		}}}}, closed}, nil
	}})
	resp, err := http.Post(st.url+chatPath, "application/json", strings.NewReader(says("hi", `,"stream":true`)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	release := sync.OnceFunc(func() { close(closed) })
	defer release()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"finish_reason":"stop"`) {
	}
	first := (<-jobs).Prompt.Flat()
	go st.post(context.Background(), chatPath, goesOn)
	second := (<-jobs).Prompt.Flat()
	if want := slices.Concat(first, said); !slices.Equal(second[:min(len(want), len(second))], want) {
		t.Errorf("the prompt after %q is %q", tok.Decode(nil, want), tok.Decode(nil, second))
	}
}

const goesOn = `{"model":"sim","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"word"},{"role":"user","content":"more"}]}`

// TestEveryChoiceIsKept: whichever of several answers the client goes on from,
// it stands in the next prompt as the model gave it.
func TestEveryChoiceIsKept(t *testing.T) {
	tok := simModel(t).Tokenizer()
	said := slices.Concat(tok.Encode(nil, " wo"), tok.Encode(nil, "rd"))
	jobs := make(chan turn.Job, 3)
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		jobs <- j
		text, ids := " word", said
		if *j.Sampling.Seed == 7 {
			text, ids = " other", tok.Encode(nil, " other")
		}
		return &script{ctx, []turn.Delta{{Text: text, IDs: ids, End: &turn.End{
			Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: len(ids)},
		}}}}, nil
	}})
	st.post(t.Context(), chatPath, says("hi", `,"n":2,"seed":7`))
	first := (<-jobs).Prompt.Flat()
	<-jobs
	st.post(t.Context(), chatPath, strings.Replace(goesOn, `{"model"`, `{"seed":1,"model"`, 1))
	second := (<-jobs).Prompt.Flat()
	if want := slices.Concat(first, said); !slices.Equal(second[:min(len(want), len(second))], want) {
		t.Errorf("the prompt after %q is %q", tok.Decode(nil, want), tok.Decode(nil, second))
	}
}
