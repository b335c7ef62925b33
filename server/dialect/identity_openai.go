package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// titleStart is how OpenCode's order for a title begins.
const titleStart = "You are a title generator"

// who identifies a responses turn: by headers, else by what Codex repeats in
// the body, else by prompt_cache_key.
func (r *responsesReader) who(t *turn.Turn, root tape.Value, header func(string) string) turn.Who {
	w := byHeaders(header)
	meta := root.Key("client_metadata")
	if w.Session == "" {
		if w.Session = bounded(meta.Key("session_id").Text()); w.Session != "" {
			w.Harness = "codex"
			threads(&w, bounded(meta.Key("thread_id").Text()),
				bounded(meta.Key("x-codex-parent-thread-id").Text()))
		}
	}
	cacheKey(&w, root)
	said := header("x-codex-turn-metadata")
	if said == "" {
		said = meta.Key("x-codex-turn-metadata").Text()
	}
	nested(said, func(root tape.Value) {
		if kind := bounded(root.Key("request_kind").Text()); kind != "" {
			w.Kind = kind
		}
	})
	sideShape(&w, t)
	return w
}

// who identifies a chat turn: by headers, else by prompt_cache_key.
func (r *chatReader) who(t *turn.Turn, root tape.Value, header func(string) string) turn.Who {
	w := byHeaders(header)
	cacheKey(&w, root)
	sideShape(&w, t)
	return w
}

// cacheKey takes prompt_cache_key for the session where nothing else tells.
func cacheKey(w *turn.Who, root tape.Value) {
	if w.Session != "" {
		return
	}
	if w.Session = bounded(root.Key("prompt_cache_key").Text()); w.Session != "" {
		w.Agent = "main"
	}
}

// sideShape recognises requests beside the work by what they look like.
func sideShape(w *turn.Who, t *turn.Turn) {
	switch {
	case isProbe(t):
		aside(w, "probe")
	case len(t.Tools) == 0 && titled(t):
		aside(w, "title")
	}
}

func titled(t *turn.Turn) bool {
	if len(t.Messages) == 0 || t.Messages[0].Role != turn.System || len(t.Messages[0].Blocks) == 0 {
		return false
	}
	return strings.HasPrefix(t.Messages[0].Blocks[0].Text, titleStart)
}
