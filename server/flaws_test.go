package server

import (
	"testing"
)

// TestFlawsAreCounted: what was wrong with calls is shown, so that nothing is
// mended in silence.
func TestFlawsAreCounted(t *testing.T) {
	b := newScripted(t, "")
	chat := conversations()[0]
	for _, text := range []string{
		"<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"path\": \"/a\"}}\n</tool_call>",
		"<tool_call>\n{\"name\": \"Read\", \"arguments\": {'path': '/a'}}\n</tool_call>",
		"<tool_call>\n{\"name\": \"Nobody\", \"arguments\": {\"path\": \"/a\"}}\n</tool_call>",
	} {
		b.play = b.saying(text)
		b.ok(chat.path, chat.first)
	}
	for i, want := range []int64{1, 0, 1, 0} {
		if got := b.s.count.flaws[i].Load(); got != want {
			t.Errorf("%s: %d calls, want %d", flawNames[i], got, want)
		}
	}
}
