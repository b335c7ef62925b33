package vllm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
)

// A probe does not wait for the end of an answer that has none, whether it
// goes on or falls silent, and says what is wrong.
func TestProbeOfAnEndlessEngine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		tokens int // before it falls silent; 0 is never
		ids    string
		want   string
	}{
		{"goes on", 0, "[264]", "tokens came where 1 were asked for"},
		{"goes on without ids", 0, "null", "over 65536 bytes came where 1 tokens were asked for"},
		{"falls silent", 1, "[264]", "no end came in 5s after"},
		{"falls silent later", 3, "[264]", "no end came in 5s after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/v1/models") {
					io.WriteString(w, `{"data":[{"id":"sim"}]}`)
					return
				}
				io.Copy(io.Discard, r.Body)
				text := " a"
				if c.ids == "null" { // the fewest chunks that are too much
					text = strings.Repeat(text, 32<<10)
				}
				for n := 1; r.Context().Err() == nil; n++ {
					fmt.Fprintf(w, `data: {"choices":[{"index":0,"text":"%s","token_ids":%s,"finish_reason":null}]}`+"\n\n", text, c.ids)
					w.(http.Flusher).Flush()
					if n == c.tokens {
						<-r.Context().Done()
					}
				}
			})
			_, err := client.Probe(context.Background())
			if !errors.Is(err, engine.ErrEndless) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}
