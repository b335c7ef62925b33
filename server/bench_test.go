package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp/fasthttputil"
)

// instant is a worker that answers at once, so that a benchmark sees the
// server alone.
type instant struct {
	name   string
	tokens int
}

func (w instant) Name() string { return w.name }
func (w instant) Info() turn.WorkerInfo {
	return turn.WorkerInfo{Name: w.name, State: turn.Ready, Caps: turn.Capabilities{
		Model: "sim", Context: 262144, BlockSize: 16, KVTokens: 400000, MaxSeqs: 256, TokenIDs: true,
	}}
}
func (w instant) Load() turn.Load { return turn.Load{} }
func (w instant) Generate(_ context.Context, j turn.Job) (turn.Stream, error) {
	return &instantStream{left: w.tokens, prompt: j.Prompt.Len(), output: w.tokens}, nil
}

type instantStream struct{ left, prompt, output int }

func (s *instantStream) Next() (turn.Delta, error) {
	s.left--
	d := turn.Delta{Text: " word", IDs: []uint32{300}}
	if s.left == 0 {
		d.End = &turn.End{Reason: turn.Cut, Usage: turn.Usage{Prompt: s.prompt, Output: s.output}}
	}
	return d, nil
}
func (s *instantStream) Close() error { return nil }

// bench serves turns of one prompt size in memory and returns a client.
func bench(b *testing.B, tokens int) (post func(body []byte) int) {
	l := ledger.Open(b.TempDir()+"/ledger.db", ledger.Options{})
	s := New(Options{Ledger: l})
	s.AddModel(Model{ID: "sim", Prompt: simModel(b), Parser: hermes})
	for i := range 2 {
		if err := s.Update(instant{"w" + strconv.Itoa(i), tokens}); err != nil {
			b.Fatal(err)
		}
	}
	ln := fasthttputil.NewInmemoryListener()
	go s.Serve(ln, "")
	b.Cleanup(func() {
		s.Shutdown(context.Background())
		l.Close()
	})
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.Dial() },
	}}
	return func(body []byte) int {
		resp, err := client.Post("http://x/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		n, _ := io.Copy(io.Discard, bufio.NewReader(resp.Body))
		if resp.StatusCode != 200 {
			b.Fatalf("status %d", resp.StatusCode)
		}
		return int(n)
	}
}

// BenchmarkTurn is the whole path of one turn with one token of answer. New
// prompts share nothing; the same history grows by one message each turn.
func BenchmarkTurn(b *testing.B) {
	for _, size := range []int{2000, 20000, 60000} {
		text := quote(words(size / 6))
		body := func(i int) []byte {
			return fmt.Appendf(nil, `{"model":"sim","max_tokens":1,"messages":[{"role":"user","content":"%d "},{"role":"user","content":%s}]}`, i, text)
		}
		b.Run(fmt.Sprintf("new/%d", size), func(b *testing.B) {
			post := bench(b, 1)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				post(body(i))
			}
		})
		b.Run(fmt.Sprintf("known/%d", size), func(b *testing.B) {
			post := bench(b, 1)
			same := body(0)
			post(same)
			b.ReportAllocs()
			for b.Loop() {
				post(same)
			}
		})
	}
}

// BenchmarkNext is the whole path of a turn with one token of answer, whose
// prompt of some 60,000 tokens in 160 messages is known but for the last one.
func BenchmarkNext(b *testing.B) {
	post := bench(b, 1)
	var talk bytes.Buffer
	text := quote(words(60_000 / 6 / 160))
	for range 80 {
		fmt.Fprintf(&talk, `{"role":"user","content":%s},{"role":"assistant","content":%s},`, text, text)
	}
	begin := append([]byte(`{"model":"sim","max_tokens":1,"messages":[`), talk.Bytes()...)
	body := func(i int) []byte {
		return fmt.Appendf(begin[:len(begin):cap(begin)], `{"role":"user","content":"now %d"}]}`, i)
	}
	post(body(-1))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		post(body(i))
	}
}

// BenchmarkStream is a streamed answer of 1,000 tokens that come as fast as
// they can; the figure of interest is ns/token.
func BenchmarkStream(b *testing.B) {
	post := bench(b, 1000)
	body := []byte(`{"model":"sim","stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		post(body)
		n += 1000
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/token")
}

// BenchmarkPlace is the queue and the decision of one turn of 60,000 tokens
// over four workers that all hold half of it.
func BenchmarkPlace(b *testing.B) {
	m := newModel(Model{ID: "sim", Prompt: simModel(b)}, nil)
	for i := range 4 {
		m.update(instant{"w" + strconv.Itoa(i), 1})
	}
	f := &flight{s: new(Server), m: m, t: &turn.Turn{ID: "t"}, seats: make(chan placement, 1)}
	ids := make([]uint32, 60_000)
	for i := range ids {
		ids[i] = uint32(i)
	}
	f.job.Prompt = turn.IDsOf(ids...)
	f.chains = map[int][]uint64{16: cache.Extend(nil, cache.Seed, ids, 16)}
	for _, w := range m.members {
		w.index.Assume(w.holder, f.chains[16][:1875], 1<<20)
	}
	b.ReportAllocs()
	for b.Loop() {
		st, err := m.place(b.Context(), f)
		if err != nil {
			b.Fatal(err)
		}
		st.left(nil)
	}
}
