package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// foreign is an engine of another kind, a real one on loopback: it repeats
// what it gets, and streams when it is asked to.
func foreign(t *testing.T, model string, started chan<- context.Context) *httptest.Server {
	e := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			fmt.Fprintf(w, `{"object":"list","data":[{"id":%q}]}`, model)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "forever") {
			w.(http.Flusher).Flush()
			started <- r.Context()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/x-kind")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "%s %s %s %s %s", model, r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), body)
	}))
	t.Cleanup(e.Close)
	return e
}

// TestHandedOn: without a worker of the kind a request is a 404 that says
// so; with one it gets what came and the client what it answers, as they are.
func TestHandedOn(t *testing.T) {
	st := newStage(t)
	for _, path := range []string{"/v1/embeddings", "/v1/images/generations", "/v1/videos", "/v1/videos/generations/stream"} {
		a := ask(t, "POST", st.url+path, `{"model":"e"}`)
		if a.status != 404 || !strings.Contains(a.body, "is attached") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	started := make(chan context.Context, 1)
	small, large := foreign(t, "small", started), foreign(t, "large", started)
	var names []string
	for _, at := range []turn.Attach{
		{URL: small.URL + "/v1/", Kind: "embeddings", Key: "sesame"},
		{URL: large.URL, Kind: "embeddings"},
		{URL: large.URL, Kind: "videos"},
	} {
		name, err := st.s.AttachKind(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/embeddings", `{"model":"small","input":"x"}`, `small POST /v1/embeddings Bearer sesame {"model":"small","input":"x"}`},
		{"POST", "/v1/embeddings?a=b", `{"model":"large"}`, `large POST /v1/embeddings?a=b  {"model":"large"}`},
		{"GET", "/v1/videos/v_1/content", "", "large GET /v1/videos/v_1/content  "},
		{"DELETE", "/v1/videos/v_1", "", "large DELETE /v1/videos/v_1  "},
	} {
		a := ask(t, c.method, st.url+c.path, c.body, "Authorization", "Bearer the client's own", "Content-Type", "application/json")
		if a.status != 202 || a.body != c.want || a.header.Get("Content-Type") != "application/x-kind" {
			t.Errorf("%s: %d %q", c.path, a.status, a.body)
		}
	}
	st.s.SetKeys([]turn.Key{key("one", "1", func(k *turn.Key) { k.Concurrent = 1 })})
	ctx, hangUp := context.WithCancel(t.Context())
	go st.post(ctx, "/v1/embeddings", `{"input":"forever"}`, "x-api-key", "1")
	upstream := <-started
	if a := ask(t, "POST", st.url+"/v1/embeddings", `{}`, "x-api-key", "1"); a.status != 429 {
		t.Errorf("one more than the key may have at once: %d %s", a.status, a.body)
	}
	hangUp()
	<-upstream.Done() // the client's FIN goes up
	st.until("the place is free", func() bool { return running(st.s, "one") == 0 })
	st.s.SetKeys(nil)

	if !st.s.ups.remove(names[0]) || !st.s.ups.remove(names[1]) || st.s.ups.remove(names[1]) {
		t.Error("workers cannot be removed, or twice")
	}
	if a := ask(t, "POST", st.url+"/v1/embeddings", `{}`); a.status != 404 {
		t.Errorf("removed and still there: %d", a.status)
	}
	large.Close()
	if a := ask(t, "POST", st.url+"/v1/videos", `{}`); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("a dead worker: %d %s", a.status, a.body)
	}
	for _, at := range []turn.Attach{{URL: large.URL, Kind: "videos"}, {URL: small.URL, Kind: "songs"}, {URL: "::", Kind: "videos"}, {URL: st.url + "/no", Kind: "videos"}} {
		if _, err := st.s.AttachKind(t.Context(), at); err == nil {
			t.Errorf("%s %s was attached", at.Kind, at.URL)
		}
	}
}

// TestHandedOnTakesItsTime: an answer that comes slowly is not cut while the
// client takes it.
func TestHandedOnTakesItsTime(t *testing.T) {
	var ends []time.Time
	r := &relay{
		ReadCloser: io.NopCloser(strings.NewReader("in three parts")), patience: time.Hour,
		deadline: func(at time.Time) error { ends = append(ends, at); return nil },
	}
	for range 3 {
		before := time.Now()
		if n, err := r.Read(make([]byte, 5)); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		if last := len(ends) - 1; last < 0 || ends[last].Before(before.Add(time.Hour)) {
			t.Errorf("the client has until %v", ends)
		}
	}
}
