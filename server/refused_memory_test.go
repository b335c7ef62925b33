package server

import (
	"fmt"
	"strings"
	"testing"
)

// TestRefusedHoldsNothing: a prompt over the context leaves no memory behind,
// however many messages it has, and its agent stays where it stood.
func TestRefusedHoldsNothing(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: aWord})
	body := func(k int) string {
		var b strings.Builder
		b.WriteString(`{"model":"sim","max_tokens":5,"messages":[`)
		for i := range 50_000 {
			fmt.Fprintf(&b, `{"role":%q,"content":"%d"},`, []string{"user", "assistant"}[i%2], i+k)
		}
		return strings.TrimSuffix(b.String(), ",") + "]}"
	}
	st.post(t.Context(), "/v1/messages", body(100))
	before := int(heap())
	for i := range 8 {
		if status, answer := st.post(t.Context(), "/v1/messages", body(i)); status != 400 {
			t.Errorf("%d %.200s", status, answer)
		}
	}
	known := st.s.recall.Stats().Bytes // what is remembered of bodies has a bound of its own, and is counted low
	if grown := int(heap()) - before - 2*known; grown > 8<<20 {
		t.Errorf("8 refused turns hold %d MiB", grown>>20)
	}
}
