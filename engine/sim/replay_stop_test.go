package sim

import (
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/sim/brain"
)

// running waits until n answers run and every one of them has said something.
func (r *rig) running(n int) {
	r.t.Helper()
	until(r.t, "answers run", func() bool {
		st := r.engine.Stats()
		return st.Running == n && st.FirstToken.Count >= int64(n)
	})
}

// playing sends a request and reads its answer on the side.
func (r *rig) playing(e exchange) <-chan outcome {
	c := r.send(e)
	got := make(chan outcome, 1)
	go func() { got <- read(r.t, c) }()
	return got
}

// TestRecordedAbort: SIGTERM without grace ends running answers with "abort"
// and all that belongs to an end.
func TestRecordedAbort(t *testing.T) {
	all := exchanges(t)
	r := start(t, qwen(t), recordedFlags...)
	r.script.say(brain.Answer{IDs: []uint32{108675, 539}, Pause: 20 * time.Millisecond}) // none ends before the signal
	var got []<-chan outcome
	names := []string{"sigterm-abort0-long", "sigterm-abort0-short", "sigterm-abort0-nonstream-long"}
	for i, name := range names {
		got = append(got, r.playing(all[name]))
		r.running(i + 1)
	}
	r.signals <- syscall.SIGTERM
	cached := map[float64]int{}
	for i, name := range names {
		want, got := recorded(t, all[name]), <-got[i]
		for _, o := range []*outcome{&want, &got} {
			cut(t, o, cached)
		}
		same(t, want, got)
	}
	if want := map[float64]int{0: 2, 32: 4}; !reflect.DeepEqual(want, cached) {
		t.Errorf("cached tokens: want %v, got %v", want, cached)
	}
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

// cut checks that an aborted answer's ids and usage agree, and takes out what
// depends on the moment of the signal.
func cut(t *testing.T, o *outcome, cached map[float64]int) {
	t.Helper()
	usage, _ := o.Usage.(map[string]any)
	if doc, ok := o.Document.(map[string]any); ok {
		usage, _ = doc["usage"].(map[string]any)
		choice := doc["choices"].([]any)[0].(map[string]any)
		delete(choice, "text")
		delete(choice, "token_ids")
	}
	made := usage["completion_tokens"].(float64)
	if len(o.IDs) > 0 && made < float64(len(o.IDs)) {
		t.Errorf("%v tokens in usage, %d ids", made, len(o.IDs))
	}
	for i, id := range o.IDs[:min(4, len(o.IDs))] {
		if want := []int{108675, 539}[i%2]; id != want {
			t.Errorf("id %d: want %d, got %d", i, want, id)
		}
	}
	details := usage["prompt_tokens_details"].(map[string]any)
	cached[details["cached_tokens"].(float64)]++
	delete(details, "cached_tokens")
	delete(usage, "completion_tokens")
	delete(usage, "total_tokens")
	o.Text, o.IDs = "", nil
}

// TestRecordedDrain: SIGTERM with enough grace lets what runs and waits end,
// and answers what is new with nothing.
func TestRecordedDrain(t *testing.T) {
	t.Parallel()
	all := exchanges(t)
	r := start(t, qwen(t), drainFlags...)
	r.script.say(brain.Answer{IDs: []uint32{52027, 115345}, Pause: 5 * time.Millisecond})
	s1 := r.playing(all["drain20-s1"])
	r.running(1)
	s2 := r.playing(all["drain20-s2"])
	r.running(2)
	queued := r.playing(all["drain20-queued"])
	until(t, "one waits", func() bool { return r.engine.Stats().Waiting == 1 })
	r.signals <- syscall.SIGTERM
	until(t, "it drains", func() bool { return r.engine.Draining() })
	for _, name := range []string{"drain20-new-stream", "drain20-new-nonstream"} {
		same(t, recorded(t, all[name]), r.play(all[name]))
	}
	if got := r.play(all["health"]); got.Status != 200 {
		t.Errorf("health while draining: %d", got.Status)
	}
	want, got := recorded(t, all["drain20-s1"]), <-s1
	if n := strings.Count(got.Text, "低端"); n != 250 {
		t.Errorf("s1: want 250 rounds, got %d", n)
	}
	want.Text, got.Text = "", ""
	same(t, want, got)
	same(t, recorded(t, all["drain20-s2"]), <-s2)
	same(t, recorded(t, all["drain20-queued"]), <-queued)
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

// TestRecordedHang: work that outlives its grace gets no further byte, and the
// server waits for its clients to leave.
func TestRecordedHang(t *testing.T) {
	t.Parallel()
	all := exchanges(t)
	r := start(t, qwen(t), append(recordedFlags, "--shutdown-timeout", "3", "--enable-request-id-headers")...)
	r.script.say(brain.Answer{IDs: []uint32{108675, 539}})
	want, got := recorded(t, all["sigterm-drain8-short"]), r.play(all["sigterm-drain8-short"])
	if len(got.IDs) != 350 || strings.Count(got.Text, "刃ord") != 175 {
		t.Errorf("short: %d ids, text %q", len(got.IDs), got.Text)
	}
	want.Text, want.IDs, got.Text, got.IDs = "", nil, "", nil // the recording's middle is cut out
	same(t, want, got)
	r.script.say(brain.Answer{IDs: []uint32{108675, 539}, Pause: 20 * time.Millisecond})
	c := r.send(all["sigterm-drain8-long"])
	r.running(1)
	r.signals <- syscall.SIGTERM
	until(t, "it drains", func() bool { return r.engine.Draining() })
	after := all["sigterm-drain8-new-after-term"]
	same(t, recorded(t, after), r.play(after))
	until(t, "the engine is gone", r.engine.Dead)
	quiet(t, c)
	select {
	case err := <-r.done:
		t.Fatalf("the server left its client: %v", err)
	default:
	}
	c.Close()
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

// quiet reads what still lies in the pipe and checks that then nothing comes,
// neither bytes nor an end.
func quiet(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if !os.IsTimeout(err) {
		t.Fatalf("want silence, got %v", err)
	}
	if s := string(all); strings.Contains(s, "[DONE]") || strings.Contains(s, `"finish_reason":"`) {
		t.Fatalf("want no end, got %s", s[max(len(s)-300, 0):])
	}
}

// TestRecordedAdmission: the limit counts what runs and what waits.
func TestRecordedAdmission(t *testing.T) {
	t.Parallel()
	all := exchanges(t)
	r := start(t, qwen(t), append(recordedFlags, "--max-num-queued-reqs", "2")...)
	script := r.folder.tok.Encode(nil, "]$(")
	r.script.say(brain.Answer{IDs: script, Pause: 15 * time.Millisecond}) // the third one comes before they end
	a, b := r.playing(all["admission-0"]), r.playing(all["admission-1"])
	r.running(2)
	same(t, recorded(t, all["admission-rejected"]), r.play(all["admission-rejected"]))
	for _, got := range []outcome{<-a, <-b} {
		want := recorded(t, all["admission-0"])
		if !strings.HasPrefix(got.Text, "]$(]$(") || strings.Count(got.Text, "(") != 75 {
			t.Errorf("text: %q", got.Text)
		}
		want.Text, got.Text = "", ""
		same(t, want, got)
	}
}

// TestRecordedDeath: an engine that dies tells every open request.
func TestRecordedDeath(t *testing.T) {
	all := exchanges(t)
	r := start(t, qwen(t), recordedFlags...)
	r.script.say(brain.Answer{IDs: []uint32{124, 124}, Pause: 5 * time.Millisecond})
	document := r.playing(all["enginedeath-nonstream"])
	r.running(1)
	r.script.say(brain.Answer{IDs: []uint32{124, 124}, Pause: 5 * time.Millisecond, Fault: brain.Engine, After: 40})
	want, got := recorded(t, all["enginedeath-stream"]), r.play(all["enginedeath-stream"])
	want.Text, got.Text = "", ""
	same(t, want, got)
	same(t, recorded(t, all["enginedeath-nonstream"]), <-document)
	if err := r.wait(); err == nil {
		t.Error("want an error from a server whose engine died")
	}
}

// TestRecordedDisconnect: a client that leaves ends its answer, and as with
// the recorded server no counter of ended requests tells of it
// (../shared/reference/vllm-live.md, "Disconnect and abort").
func TestRecordedDisconnect(t *testing.T) {
	all := exchanges(t)
	e := all["disconnect-stream"]
	want := recorded(t, e)
	r := start(t, qwen(t), recordedFlags...)
	a := scripted(want)
	a.Pause = 5 * time.Millisecond
	r.script.say(a)
	c := r.send(e)
	buf := make([]byte, len(e.Response))
	if _, err := io.ReadFull(c, buf); err != nil {
		t.Fatal(err)
	}
	c.Close()
	until(t, "the answer is gone", func() bool {
		st := r.engine.Stats()
		return st.Running+st.Waiting == 0 && st.Usage == 0
	})
	_, page := r.page()
	for _, why := range []string{"stop", "length", "abort", "error", "repetition"} {
		name := `vllm:request_success_total{,finished_reason="` + why + `"}`
		if page[name] != "0.0" {
			t.Errorf("%s: want 0.0, got %q", name, page[name])
		}
	}
	got := read(t, strings.NewReader(string(buf)))
	if n := min(len(want.IDs), len(got.IDs)); !reflect.DeepEqual(want.IDs[:n], got.IDs[:n]) || n < 5 {
		t.Errorf("ids: want %v, got %v", want.IDs, got.IDs)
	}
}
