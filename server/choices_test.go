package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// counting plays answers that tell their seed, each of two deltas.
func counting(seen *sync.Map) func(context.Context, turn.Job) (turn.Stream, error) {
	return func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		seen.Store(j.ID, true)
		return &script{ctx, []turn.Delta{
			{Text: " seed", IDs: []uint32{300}},
			{Text: fmt.Sprint(" ", *j.Sampling.Seed), IDs: []uint32{301}, End: &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 2}}},
		}}, nil
	}
}

// TestChoices asks for three answers, as a document and as a stream, of both
// APIs that have them.
func TestChoices(t *testing.T) {
	for _, c := range []struct{ name, path, body string }{
		{"chat", "/v1/chat/completions", `{"model":"sim","n":3,"seed":7,"messages":[{"role":"user","content":"hi"}]`},
		{"completions", "/v1/completions", `{"model":"sim","n":3,"seed":7,"max_tokens":9,"prompt":"hi"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen sync.Map
			st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: counting(&seen)})
			want := []string{" seed 7", " seed 8", " seed 9"}

			d := doc(t, ask(t, "POST", st.url+c.path, c.body+`}`).body)
			var got []string
			for i := range 3 {
				one := dig(d, "choices", i)
				if num(dig(one, "index")) != float64(i) || str(dig(one, "finish_reason")) != "stop" {
					t.Errorf("choice %d: %v", i, one)
				}
				got = append(got, str(dig(one, "text"))+str(dig(one, "message", "content")))
			}
			if !slices.Equal(trimmed(got), trimmed(want)) {
				t.Errorf("answers %q", got)
			}
			prompt := num(dig(d, "usage", "prompt_tokens"))
			if out := num(dig(d, "usage", "completion_tokens")); prompt < 1 || out != 6 || num(dig(d, "usage", "total_tokens")) != prompt+out {
				t.Errorf("usage %v", dig(d, "usage"))
			}

			stream := ask(t, "POST", st.url+c.path, c.body+`,"stream":true,"stream_options":{"include_usage":true}}`).body
			got = make([]string, 3)
			ends := 0
			for _, e := range data(stream) {
				one := dig(doc(t, e), "choices", 0)
				if one == nil {
					continue
				}
				got[int(num(dig(one, "index")))] += str(dig(one, "text")) + str(dig(one, "delta", "content"))
				if dig(one, "finish_reason") != nil {
					ends++
				}
			}
			if !slices.Equal(trimmed(got), trimmed(want)) || ends != 3 || strings.Count(stream, "[DONE]") != 1 || !strings.HasSuffix(stream, "[DONE]\n\n") {
				t.Errorf("answers %q, %d ends in %s", got, ends, stream)
			}
			n := 0
			seen.Range(func(any, any) bool { n++; return true })
			if n != 6 || len(st.aloft()) != 0 {
				t.Errorf("%d jobs were sent, %d are aloft", n, len(st.aloft()))
			}
		})
	}
}

// aloft is the turns on their way.
func (st *stage) aloft() (ids []string) {
	st.s.aloft.Range(func(id, _ any) bool { ids = append(ids, id.(string)); return true })
	return ids
}

func trimmed(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// TestOneOfSeveralFails: when the worker loses one of the answers, the
// request ends as a whole, with one error, and nothing goes on.
func TestOneOfSeveralFails(t *testing.T) {
	play := func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		if *j.Sampling.Seed == 8 {
			return nil, &turn.Refused{Status: 400, Message: "eight is a bad number"}
		}
		return &script{ctx, nil}, nil // never ends
	}
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: play})
	for _, stream := range []string{"false", "true"} {
		a := ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"sim","n":3,"seed":7,"stream":`+stream+`,"messages":[{"role":"user","content":"hi"}]}`)
		if a.status != 400 || !strings.Contains(a.body, "eight is a bad number") {
			t.Errorf("%d %s", a.status, a.body)
		}
		st.until("all have landed", func() bool { return len(st.aloft()) == 0 })
	}
}

// TestAnswersKeepToThePlace: a key that may have one turn at once has one, also
// where a request asks for several answers.
func TestAnswersKeepToThePlace(t *testing.T) {
	var now, most atomic.Int64
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		most.Store(max(most.Load(), now.Add(1)))
		s, err := aWord(ctx, j)
		return &counted{s, &now}, err
	}})
	st.s.SetKeys([]turn.Key{key("one", "1", func(k *turn.Key) { k.Concurrent = 1 })})
	for _, body := range []string{`{"model":"sim","n":3,"prompt":["a","b"]}`, `{"model":"sim","n":3,"stream":true,"prompt":["a","b"]}`} {
		a := ask(t, "POST", st.url+"/v1/completions", body, "x-api-key", "1")
		if a.status != 200 || strings.Count(a.body, `"finish_reason":"length"`) != 6 {
			t.Errorf("%d %s", a.status, a.body)
		}
		st.until("the place is free", func() bool { return running(st.s, "one") == 0 && len(st.aloft()) == 0 })
	}
	if n := most.Load(); n != 1 {
		t.Errorf("%d turns ran at once", n)
	}
}

// counted is a stream that is counted until it is closed.
type counted struct {
	turn.Stream
	now *atomic.Int64
}

func (c *counted) Close() error {
	c.now.Add(-1)
	return c.Stream.Close()
}

func TestTooManyChoices(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: aWord})
	a := ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"sim","n":17,"messages":[{"role":"user","content":"hi"}]}`)
	if a.status != 400 || !strings.Contains(a.body, "at most 16") || !strings.Contains(a.body, `"param":"n"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}
