package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// askBodies are a short turn in each API.
var askBodies = map[string]string{
	"/v1/chat/completions": `"messages":[{"role":"user","content":"hi"}],"max_tokens":4`,
	"/v1/messages":         `"messages":[{"role":"user","content":"hi"}],"max_tokens":4`,
	"/v1/responses":        `"input":"hi","max_output_tokens":4`,
	"/v1/completions":      `"prompt":"hi","max_tokens":4`,
}

// TestAnnotations: what can be told of a prompt is told, before a stream in
// events that have a name and a comment, in a document in its nvext; what
// cannot is named in the warning.
func TestAnnotations(t *testing.T) {
	st, prompt := reading(t)
	for path, body := range askBodies {
		body = `{"model":"sim",` + body + `,"nvext":{"annotations":["token_ids","formatted_prompt","weather"]}`
		a := ask(t, "POST", st.url+path, body+`}`)
		text := prompt()
		ids := list(simModel(t).Tokenizer().Encode(nil, text))
		x := dig(doc(t, a.body), "nvext")
		if !strings.Contains(a.header.Get(warnHeader), "annotations.weather") || str(dig(x, "formatted_prompt")) != text || strings.ReplaceAll(fmt.Sprint(dig(x, "token_ids")), " ", ",") != ids {
			t.Errorf("%s: %q %s", path, a.header.Get(warnHeader), a.body)
		}
		a = ask(t, "POST", st.url+path, body+`,"stream":true}`)
		want := "event: formatted_prompt\n: " + quote(text) + "\n\nevent: token_ids\n: [" + strings.Trim(ids, "[]") + "]\n\n"
		want = strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(want)
		if !strings.HasPrefix(strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(a.body), want) {
			t.Errorf("%s: %s\nwant %s", path, a.body, want)
		}
	}
}

// TestQueryWhileFull: where every worker is full a turn would wait; who only
// asks is told where it would like to go, not that all are busy.
func TestQueryWhileFull(t *testing.T) {
	one := caps(1000)
	one.MaxSeqs = 1
	st := newStage(t, &puppet{name: "w7", caps: one, play: func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
		return &script{ctx: ctx}, nil
	}})
	go st.post(t.Context(), chatPath, says("hi", ""))
	st.until("the slot is taken", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	a := ask(t, "POST", st.url+chatPath, says("hi", `,"nvext":{"annotations":["query_instance_id:"]}`))
	if a.status != 200 || !strings.Contains(a.body, `"decode_worker_id":"w7"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestQueryOnly: who only asks where a turn would run is told, with the ids;
// no worker hears of it.
func TestQueryOnly(t *testing.T) {
	st := newStage(t, &puppet{name: "w7", caps: caps(1000), play: func(context.Context, turn.Job) (turn.Stream, error) {
		t.Error("the turn was sent")
		return nil, turn.ErrLost
	}})
	for path, body := range askBodies {
		for _, stream := range []string{"false", "true"} {
			a := ask(t, "POST", st.url+path, `{"model":"sim",`+body+`,"stream":`+stream+`,"nvext":{"annotations":["query_instance_id:"]}}`)
			if a.status != 200 || !strings.Contains(a.body, `"decode_worker_id":"w7"`) || !strings.Contains(a.body, `"token_ids":[`) {
				t.Errorf("%s stream %s: %d %s", path, stream, a.status, a.body)
			}
		}
	}
	if n := len(st.aloft()); n != 0 {
		t.Errorf("%d turns are aloft", n)
	}
	a := ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":`+quote(words(2000))+`}],"nvext":{"annotations":["query_instance_id:x"]}}`)
	if a.status != 400 || !strings.Contains(a.body, "maximum context length") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
