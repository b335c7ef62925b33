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
		for i := range 10_000 {
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
	// The last of them is held until its connection serves another; what is
	// remembered of bodies has a bound of its own, and is counted low.
	grown := 0
	for range 50 {
		st.post(t.Context(), "/v1/messages", `{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"go"}]}`)
		if grown = int(heap()) - before - 2*st.s.recall.Stats().Bytes; grown <= 4<<20 {
			return
		}
	}
	t.Errorf("8 refused turns hold %d MiB", grown>>20)
}
