package wire

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/sim/kv"
	"github.com/agentinfer/dyn/engine/zmtp"
)

// event is a Stored event of one block.
func event(first uint32) []kv.Event {
	ids := []uint32{first, first + 1, 3, 4}
	return []kv.Event{{Kind: kv.Stored, Hashes: kv.Chain(nil, ids, 4, ""), Tokens: ids}}
}

func publisher(t *testing.T, n uint32) *Publisher {
	t.Helper()
	cfg, err := Parse(`{"enable_kv_cache_events":true,"endpoint":"tcp://*:0","replay_endpoint":"tcp://*:0","topic":"kv"}`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(cfg, 4, Short)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	for i := range n {
		if err := p.Publish(event(i)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestReplay has the form of the recorded replays: frames, numbers, the end
// mark, and silence for a request without its empty frame.
func TestReplay(t *testing.T) {
	p := publisher(t, 20)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d, err := zmtp.DialDealer(ctx, p.Config().Replay)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		frames [][]byte
		want   int
	}{
		{"without the empty frame", [][]byte{number(0)}, 0},
		{"from the fifth", [][]byte{nil, number(5)}, 16},
		{"beyond the newest", [][]byte{nil, number(100_000)}, 1},
		{"all", [][]byte{nil, number(0)}, 21},
	} {
		if err := d.Send(c.frames...); err != nil {
			t.Fatal(err)
		}
		for i := range c.want {
			m, err := d.Recv()
			if err != nil {
				t.Fatal(err)
			}
			last := i == c.want-1
			seq := binary.BigEndian.Uint64(m[2])
			switch {
			case len(m) != 4 || len(m[0]) != 0:
				t.Fatalf("%s: frames %q", c.name, m)
			case last && (len(m[1]) != 0 || seq != 1<<64-1 || len(m[3]) != 0):
				t.Fatalf("%s: end mark %q", c.name, m)
			case !last && (string(m[1]) != "kv" || seq != uint64(20-c.want+1+i)):
				t.Fatalf("%s: batch %d is %q", c.name, i, m[:3])
			}
		}
	}
}

func TestPast(t *testing.T) {
	for _, c := range []struct {
		name        string
		limit, size int
		first       uint64
	}{
		{"by number", 3, 1, 7},
		{"by bytes", 100, maxPast / 4, 6},
		{"one that is too large", 100, maxPast + 1, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := past{limit: c.limit}
			payload := make([]byte, c.size)
			for i := range uint64(10) {
				if n := p.add(payload); n != i {
					t.Fatalf("want number %d, got %d", i, n)
				}
			}
			first, kept := p.since(0)
			if first != c.first || len(kept) != int(10-c.first) {
				t.Errorf("want from %d, got %d from %d", c.first, len(kept), first)
			}
			if first, kept := p.since(10); first != 10 || kept != nil {
				t.Errorf("beyond the newest: %d from %d", len(kept), first)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		ok, on   bool
	}{
		{"absent", "", true, false},
		{"on", `{"enable_kv_cache_events":true}`, true, true},
		{"null publisher", `{"enable_kv_cache_events":true,"publisher":"null"}`, true, false},
		{"unknown key", `{"endpiont":"x"}`, false, false},
		{"unknown publisher", `{"publisher":"pigeon"}`, false, false},
		{"no JSON", `enable`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse(c.in)
			if (err == nil) != c.ok || cfg.Enable != c.on {
				t.Errorf("got %+v, %v", cfg, err)
			}
		})
	}
}

// A plain address is where somebody listens: the publisher connects there, and
// the first batch is seen.
func TestConnectForm(t *testing.T) {
	in, err := zmtp.ListenSub("tcp://127.0.0.1:0", "kv")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cfg, err := Parse(`{"enable_kv_cache_events":true,"endpoint":"` + in.Addr() + `","replay_endpoint":"tcp://*:0","topic":"kv"}`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(cfg, 4, Short)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Config().Endpoint; got != in.Addr() {
		t.Errorf("it tells %s, not %s", got, in.Addr())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sub, err := in.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for p.Subscribers() == 0 && ctx.Err() == nil {
		<-time.After(time.Millisecond)
	}
	for i := range uint32(3) {
		if err := p.Publish(event(i)); err != nil {
			t.Fatal(err)
		}
	}
	_ = sub.SetDeadline(time.Now().Add(time.Minute))
	for i := range uint64(3) {
		m, err := sub.Recv()
		if err != nil || binary.BigEndian.Uint64(m[1]) != i {
			t.Fatalf("batch %d: %x, %v", i, m, err)
		}
	}
}
