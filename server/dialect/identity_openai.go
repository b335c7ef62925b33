package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// who identifies a responses turn: by headers, else by what Codex repeats in
// the body, else by prompt_cache_key.
func (r *responsesReader) who(t *turn.Turn, root tape.Value) turn.Who {
	w := byHeaders(r.header)
	meta := root.Key("client_metadata")
	if w.Session == "" {
		if w.Session = bounded(meta.Key("session_id").Text()); w.Session != "" {
			w.Harness = "codex"
			threads(&w, bounded(meta.Key("thread_id").Text()),
				bounded(meta.Key("x-codex-parent-thread-id").Text()))
		}
	}
	cacheKey(&w, root)
	said := r.header("x-codex-turn-metadata")
	if said == "" {
		said = meta.Key("x-codex-turn-metadata").Text()
	}
	nested(said, func(root tape.Value) {
		if root.Key("request_kind").Text() == KindCompaction {
			w.Kind = KindCompaction
		}
	})
	r.byContext(&w, root)
	r.kind(&w, t)
	return w
}

// who identifies a chat turn: by headers, else by prompt_cache_key.
func (r *chatReader) who(t *turn.Turn, root tape.Value) turn.Who {
	w := byHeaders(r.header)
	cacheKey(&w, root)
	r.byContext(&w, root)
	r.kind(&w, t)
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

// byContext takes the session from nvext where nothing else tells it: from
// the former session_control and agent_context of Dynamo's frontend.
func (r *reader) byContext(w *turn.Who, root tape.Value) {
	if w.Session != "" {
		return
	}
	ext := root.Key("nvext")
	for _, key := range []string{"session_control", "agent_context"} {
		if o := ext.Key(key); o.Key("session_id").Text() != "" {
			parented(w, o.Key("session_id").Text(), o.Key("parent_session_id").Text())
			return
		}
	}
}
