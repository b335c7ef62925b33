package wire

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/zmtp"
)

// recording is one request to a real replay socket and its answers, as frames
// in hex; of many answers the first and the last three.
type recording struct {
	Name, Socket string
	Request      []string
	Count        int `json:"reply_count"`
	Replies      [][]string
}

func recordings(t *testing.T) (all []recording) {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "fixtures")
	}
	data, err := os.ReadFile(filepath.Join(dir, "engines", "vllm", "kv-replay.json"))
	if err != nil {
		t.Skipf("no recordings: %v; set DYN_FIXTURES", err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRecordedReplay asks for what the recorded dealers asked for, of a
// publisher that has sent as many batches: all frames but the payload are the
// same, and the payload is the one that was published.
func TestRecordedReplay(t *testing.T) {
	all := recordings(t)
	p := publisher(t, 270)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, r := range all {
		if r.Socket != "DEALER" {
			continue // a REQ socket reads the first answer only, see the independent peer
		}
		d, err := zmtp.DialDealer(ctx, p.Config().Replay)
		if err != nil {
			t.Fatal(err)
		}
		got := answers(t, d, r)
		d.Close()
		if len(got) != r.Count {
			t.Errorf("%s: want %d replies, got %d", r.Name, r.Count, len(got))
			continue
		}
		for i, want := range r.Replies {
			at := i
			if i >= 3 {
				at = len(got) - len(r.Replies) + i
			}
			p.compare(t, r.Name, want, got[at])
		}
	}
}

// answers sends a recorded request and reads to the end mark, or makes sure
// that nothing comes by asking for something else behind it.
func answers(t *testing.T, d *zmtp.Dealer, r recording) (got [][][]byte) {
	t.Helper()
	if err := d.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var frames [][]byte
	for _, f := range r.Request {
		b, err := hex.DecodeString(f)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, b)
	}
	if err := d.Send(frames...); err != nil {
		t.Fatal(err)
	}
	silent := r.Count == 0
	if silent {
		if err := d.Send(nil, number(1<<63)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		m, err := d.Recv()
		if err != nil {
			t.Fatal(err)
		}
		end := bytes.Equal(m[2], number(1<<64-1))
		if end && silent {
			return got
		}
		var mine [][]byte
		for _, f := range m {
			mine = append(mine, bytes.Clone(f))
		}
		if got = append(got, mine); end {
			return got
		}
	}
}

func (p *Publisher) compare(t *testing.T, name string, want []string, got [][]byte) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: want %d frames, got %d", name, len(want), len(got))
		return
	}
	for i := range want[:3] {
		if hex.EncodeToString(got[i]) != want[i] {
			t.Errorf("%s: frame %d: want %s, got %x", name, i, want[i], got[i])
		}
	}
	if want[3] == "" {
		if len(got[3]) != 0 {
			t.Errorf("%s: a payload at the end mark", name)
		}
		return
	}
	first, payloads := p.past.since(uint64(got[2][7]) | uint64(got[2][6])<<8)
	if len(payloads) == 0 || !bytes.Equal(payloads[0], got[3]) {
		t.Errorf("%s: batch %d is not the one that was published", name, first)
	}
}
