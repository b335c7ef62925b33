package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// studio is an engine that makes videos: each is a job with a name of the
// studio's.
func studio(t *testing.T, name string) *httptest.Server {
	n := 0
	e := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/v1/models":
			io.WriteString(w, `{"data":[{"id":"film"}]}`)
		case r.Method == "POST" && r.URL.Path == "/v1/videos":
			n++
			fmt.Fprintf(w, `{"id":"video_%s_%d","object":"video","status":"queued"}`, name, n)
		default:
			fmt.Fprintf(w, `{"made_by":%q,"range":%q}`, name, r.Header.Get("Range"))
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// TestVideosBelongToTheirKeys: a job is read, changed and removed with the key
// that started it only, at the worker that has it, and by the next daemon too.
func TestVideosBelongToTheirKeys(t *testing.T) {
	st := newStage(t)
	for _, name := range []string{"ufa", "rko"} {
		if _, err := st.s.AttachKind(t.Context(), turn.Attach{URL: studio(t, name).URL, Kind: "videos"}); err != nil {
			t.Fatal(err)
		}
	}
	st.s.SetKeys([]turn.Key{key("alice", "a"), key("bob", "b")})
	for i := range 4 {
		a := ask(t, "POST", st.url+"/v1/videos", `{"model":"film","prompt":"waves"}`, "x-api-key", "a")
		id := str(doc(t, a.body)["id"])
		if a.status != 200 || !strings.HasPrefix(id, "video_") {
			t.Fatalf("job %d: %d %s", i, a.status, a.body)
		}
		if i%2 == 1 {
			st.s.shelf = New(Options{Ledger: st.l}).shelf // as a next daemon finds it
		}
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/v1/videos/" + id, ""},
			{"GET", "/v1/videos/" + id + "/content", ""},
			{"POST", "/v1/videos/" + id + "/remix", `{"prompt":"more"}`},
			{"POST", "/v1/videos/edits", `{"video":{"id":"` + id + `"}}`},
			{"POST", "/v1/videos/edits", `{"video":"` + id + `"}`},
			{"DELETE", "/v1/videos/" + id, ""},
		} {
			a := ask(t, c.method, st.url+c.path, c.body, "x-api-key", "a", "Range", "bytes=0-1")
			if a.status != 200 || str(doc(t, a.body)["made_by"]) != strings.Split(id, "_")[1] || str(doc(t, a.body)["range"]) != "bytes=0-1" {
				t.Errorf("%s %s with its key: %d %s", c.method, c.path, a.status, a.body)
			}
			if a := ask(t, c.method, st.url+c.path, c.body, "x-api-key", "b"); a.status != 404 || !strings.Contains(a.body, "was started with this key") {
				t.Errorf("%s %s with another key: %d %s", c.method, c.path, a.status, a.body)
			}
		}
	}
	if a := ask(t, "GET", st.url+"/v1/videos/video_nobody", "", "x-api-key", "a"); a.status != 404 {
		t.Errorf("a job that nobody started: %d %s", a.status, a.body)
	}
	if a := ask(t, "GET", st.url+"/v1/responses/videos/video_ufa_1", "", "x-api-key", "a"); a.status != 404 {
		t.Errorf("a job is no response: %d %s", a.status, a.body)
	}
	st.s.SetKeys(nil)
	if a := ask(t, "GET", st.url+"/v1/videos/video_nobody", ""); a.status != 200 {
		t.Errorf("without keys: %d %s", a.status, a.body)
	}
}

// TestVideosAreNamedOnce: whose video a body names does not depend on how the
// engine reads it. Python takes NaN for a number, any UTF for JSON, and the
// last of two members; and a form is read there too.
func TestVideosAreNamedOnce(t *testing.T) {
	st := newStage(t)
	if _, err := st.s.AttachKind(t.Context(), turn.Attach{URL: studio(t, "ufa").URL, Kind: "videos"}); err != nil {
		t.Fatal(err)
	}
	st.s.SetKeys([]turn.Key{key("alice", "a"), key("bob", "b")})
	made := func(secret string) string {
		return str(doc(t, ask(t, "POST", st.url+"/v1/videos", `{"model":"film","prompt":"waves"}`, "x-api-key", secret).body)["id"])
	}
	hers, his := made("a"), made("b")
	const form = "multipart/form-data; boundary=x"
	part := func(head, text string) string {
		return "--x\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + text + "\r\n--x--\r\n"
	}
	both := strings.NewReplacer("HERS", hers, "HIS", his)
	for _, c := range []struct{ kind, body string }{
		{"", `{"video":{"id":"HERS"},"VIDEO":{"id":"HIS"}}`},
		{"", `{"video":{"id":"HERS","ID":"HIS"}}`},
		{"", `{"video":{"id":"HERS"},"video":{"id":"HIS"}}`},
		{"", `{"video":{"id":"HIS"},"video":{"id":"HERS"}}`},
		{"", `{"video":{"id":"HIS","id":"HERS"}}`},
		{"", `{"video":{"id":"HERS"},"seconds":NaN}`},
		{"", `{"video":"HERS","seconds":NaN}`},
		{"", strings.Join(strings.Split(`{"video":"HERS"}`, ""), "\x00")},
		{form, part(`name="video"`, `{"id":"HERS"}`)},
		{form, part(`name="video[id]"`, `HERS`)},
		{form, part(`name="video.id"`, `HERS`)},
		{"application/x-www-form-urlencoded", `video=HERS`},
		{"application/x-www-form-urlencoded", `%76ideo=HERS`},
	} {
		a := ask(t, "POST", st.url+"/v1/videos/edits", both.Replace(c.body), "x-api-key", "b", "Content-Type", c.kind)
		if a.status != 400 && a.status != 404 {
			t.Errorf("%.60q: %d %s", c.body, a.status, a.body)
		}
	}
	for _, c := range []struct{ kind, body string }{
		{"", `{"video":{"id":"HIS"},"prompt":"more"}`},
		{"", `{"prompt":"more"}`},
		{form, part(`name="video"; filename="a.mp4"`, "\x00\x01")},
		{form, part(`name="prompt"`, "waves")},
	} {
		a := ask(t, "POST", st.url+"/v1/videos/edits", both.Replace(c.body), "x-api-key", "b", "Content-Type", c.kind)
		if a.status != 200 {
			t.Errorf("%.60q: %d %s", c.body, a.status, a.body)
		}
	}
}

// TestHandedTokensCount: what an engine of another kind says that it used is
// taken off the key's tokens.
func TestHandedTokensCount(t *testing.T) {
	e := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[{"id":"e","embedding":[%s0]}],"usage":{"prompt_tokens":7,"total_tokens": 7}}`, strings.Repeat("0.125,", 100_000))
	}))
	t.Cleanup(e.Close)
	st := newStage(t)
	st.s.ups.add(&upstream{kind: "embeddings", url: e.URL})
	st.s.SetKeys([]turn.Key{key("a", "1", func(k *turn.Key) { k.Tokens = 10 })})
	for i, want := range []int{200, 200, 429} {
		if a := ask(t, "POST", st.url+"/v1/embeddings", `{"input":"x"}`, "x-api-key", "1"); a.status != want {
			t.Errorf("request %d: %d, want %d", i, a.status, want)
		}
		st.until("it is over", func() bool { return running(st.s, "a") == 0 })
	}
	if n := st.s.ring.All()[0].Used().Tokens; n != 14 {
		t.Errorf("%d tokens, want 14", n)
	}
}

func TestUsed(t *testing.T) {
	for tail, want := range map[string]int{
		``: 0, `{}`: 0, `"total_tokens":12}`: 12, `"total_tokens": 3,"x":"y"`: 3,
		`"total_tokens":null`: 0, `"total_tokens":1,"usage":{"total_tokens":2}`: 2, `"total_tokens":99999999999999999999`: 9999999999,
	} {
		if got := used([]byte(tail)); got != want {
			t.Errorf("%s: %d, want %d", tail, got, want)
		}
	}
}
