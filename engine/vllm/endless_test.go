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
		want   string
	}{
		{"goes on", 0, "tokens came where 1 were asked for"},
		{"falls silent", 1, "no end came in 5s after"},
		{"falls silent later", 3, "no end came in 5s after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/v1/models") {
					io.WriteString(w, `{"data":[{"id":"sim"}]}`)
					return
				}
				io.Copy(io.Discard, r.Body)
				for n := 1; r.Context().Err() == nil; n++ {
					fmt.Fprint(w, `data: {"choices":[{"index":0,"text":" a","token_ids":[264],"finish_reason":null}]}`+"\n\n")
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
