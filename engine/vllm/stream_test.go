package vllm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// answerOf is the body of an answer of n tokens, a chunk each.
func answerOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "data: %s\n\n", strings.Replace(sample, "108675", fmt.Sprint(i), 1))
	}
	return b.String() + `data: {"choices":[{"text":"","finish_reason":"length","token_ids":[]}]}` + "\n\ndata: [DONE]\n\n"
}

// read reads an answer that is in memory and returns how many tokens it had.
func (s *stream) read(t testing.TB) (n int) {
	for {
		d, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		n += len(d.IDs)
		if d.End != nil {
			return n
		}
	}
}

func streamOf(body string) *stream {
	return newStream(context.Background(), inMemory{strings.NewReader(body)}, turn.Job{MaxTokens: 1 << 20}, asked{})
}

// inMemory is an answer that is here already.
type inMemory struct{ *strings.Reader }

func (inMemory) Close() error { return nil }
func (inMemory) Done() error  { return nil }

// An answer's chunks are read without allocating for each of them.
func TestStreamAllocates(t *testing.T) {
	const tokens = 5000
	body := answerOf(tokens)
	n := testing.AllocsPerRun(5, func() {
		if got := streamOf(body).read(t); got != tokens {
			t.Fatalf("%d tokens", got)
		}
	})
	if n > tokens/50 {
		t.Errorf("%v allocations for %d chunks", n, tokens)
	}
}

func BenchmarkStream(b *testing.B) {
	body := answerOf(1000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		streamOf(body).read(b)
	}
}
