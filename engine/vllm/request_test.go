package vllm

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// TestBody: a body is the same whether the prompt holds texts or not, from a
// parcel that was used before, and its ids are those of JSON.
func TestBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := promptOf(rapid.IntRange(0, 9000).Draw(t, "first"))
		more := promptOf(rapid.SampledFrom([]int{0, 1, 700, 5000}).Draw(t, "more"))
		cut := rapid.IntRange(0, len(ids)).Draw(t, "cut")
		s := turn.IDsOf(ids...).Written().Cut(cut).Append(more)
		j := turn.Job{MaxTokens: 9, StopIDs: []uint32{7, 1 << 31}, Salt: "a\"b", Stop: []string{"x", "y"}}
		parcels := []*parcel{new(parcel), {b: []byte("from before")}, new(parcel)}
		for i, prompt := range []turn.IDs{s.Plain(), s, s.Written()} {
			j.Prompt = prompt
			parcels[i].write("m", j, structured, false)
		}
		want := bytes.Join(parcels[0].pieces, nil)
		for i, p := range parcels {
			if got := bytes.Join(p.pieces, nil); !bytes.Equal(got, want) {
				t.Fatalf("body %d of %d pieces, %d ids: %.100s, want %.100s", i, len(p.pieces), s.Len(), got, want)
			}
		}
		list, err := json.Marshal(append(ids[:cut:cut], more...))
		if err != nil {
			t.Fatal(err)
		}
		head := alike + `"m","max_tokens":9,"stop":["x","y"],"stop_token_ids":[7,2147483648],"cache_salt":"a\"b",`
		if !bytes.HasPrefix(want, []byte(head)) || !json.Valid(want) {
			t.Fatalf("%.200s does not begin with %.200s", want, head)
		}
		if tail := `,"prompt":` + string(list) + `}`; !bytes.HasSuffix(want, []byte(tail)) {
			t.Fatalf("%.200s does not end with %.200s", want, tail)
		}
	})
}

// promptOf is n ids, spread over a vocabulary as text's are.
func promptOf(n int) []uint32 {
	ids := make([]uint32, n)
	x := uint32(1)
	for i := range ids {
		x = x*1664525 + 1013904223
		ids[i] = x >> 8 % 151_000
	}
	return ids
}

// BenchmarkBody writes the body of a prompt of 60,000 ids: a first one, and one
// of which 59,000 are as they were in the prompt before.
func BenchmarkBody(b *testing.B) {
	ids := promptOf(60_000)
	first := turn.IDsOf(ids...)
	for _, c := range []struct {
		name   string
		prompt turn.IDs
	}{{"first", first}, {"next", first.Cut(59_000).Written().Append(ids[59_000:])}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := newParcel()
				p.write("m", turn.Job{Prompt: c.prompt, MaxTokens: 1}, structured, false)
				p.release()
			}
		})
	}
}
