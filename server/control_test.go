package server

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// control serves the control routes of a stage and returns their URL.
func (st *stage) control() string {
	st.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		st.t.Fatal(err)
	}
	go st.s.ServeControl(ln)
	return "http://" + ln.Addr().String()
}

// TestForget: of a session that is forgotten nothing is found, in memory or
// in the ledger, and others stay.
func TestForget(t *testing.T) {
	st, _ := reading(t)
	st.s.SetKeys([]turn.Key{key("alice", "a")})
	ctl := st.control()
	for _, session := range []string{"one", "two"} {
		st.responses(`"input":[{"role":"user","content":"`+strings.Repeat("hello ", 2500)+`"}]`, "x-api-key", "a", "x-session-id", session)
	}
	if st.s.recall.Stats().Bytes == 0 {
		t.Error("no body is remembered")
	}
	path := ctl + "/sessions/" + url.PathEscape("alice/one")
	a := ask(t, "DELETE", path, "")
	if a.status != 200 || num(doc(t, a.body)["turns"]) != 1 || num(doc(t, a.body)["responses"]) != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(t, "DELETE", path, ""); a.status != 404 || !strings.Contains(a.body, "no such session") {
		t.Errorf("again: %d %s", a.status, a.body)
	}
	if n := st.s.sessions.Stats().Agents; n != 1 {
		t.Errorf("%d agents are left, want 1", n)
	}
	if n := st.s.recall.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes of bodies are remembered", n)
	}
}

// TestForgetOddNames: clients name their sessions as they like, also so that
// a path would be another one.
func TestForgetOddNames(t *testing.T) {
	st, _ := reading(t)
	ctl := st.control()
	for _, session := range []string{"..", ".", "../keys", "a/../..", "a//b", "a/", "a?b", "%2e"} {
		st.responses(`"input":"hello"`, "x-session-id", session)
		a := ask(t, "DELETE", ctl+"/sessions/"+url.PathEscape(session), "")
		if a.status != 200 || num(doc(t, a.body)["turns"]) != 1 {
			t.Errorf("%q: %d %s", session, a.status, a.body)
		}
	}
}

func TestKeysOnTheControlSocket(t *testing.T) {
	st := newStage(t)
	ctl := st.control()
	st.s.o.Keys = func() ([]turn.Key, error) {
		return []turn.Key{key("b", "2"), key("a", "1", func(k *turn.Key) { k.Requests, k.Capped = 7, true })}, nil
	}
	a := ask(t, "POST", ctl+"/keys/reload", "")
	if a.status != 200 || !strings.Contains(a.body, `{"name":"a","requests_per_minute":7,"tokens_per_minute":0,"concurrent":0,"max_priority":0,"route":false,`) || !strings.Contains(a.body, `"max_priority":null`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(t, "GET", st.url+"/v1/models", ""); a.status != 401 {
		t.Errorf("the keys are not in force: %d", a.status)
	}
}

// TestIndexesOfSizesThatNobodyUses go with their last worker.
func TestIndexesOfSizesThatNobodyUses(t *testing.T) {
	a, b := &puppet{name: "a", caps: caps(1000), play: aWord}, &puppet{name: "b", caps: caps(1000), play: aWord}
	st := newStage(t, a, b)
	m := st.s.models["sim"]
	a.caps.BlockSize = 64
	st.s.Update(a)
	if n := len(m.blocks()); n != 2 {
		t.Errorf("%d sizes of two workers with different ones", n)
	}
	b.caps.BlockSize = 64
	st.s.Update(b)
	if sizes := m.blocks(); len(sizes) != 1 || sizes[0] != 64 {
		t.Errorf("sizes %v, want 64 alone", sizes)
	}
	st.s.Remove("a")
	st.s.Remove("b")
	if n := len(m.blocks()); n != 0 {
		t.Errorf("%d sizes without a worker", n)
	}
}
