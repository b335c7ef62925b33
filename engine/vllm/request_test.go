package vllm

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// written is a body as it is sent, with the sizes of its pieces.
func written(t interface{ Fatalf(string, ...any) }, j turn.Job) (whole []byte, sizes []int) {
	p := newParcel()
	defer p.release()
	body := bodyOf(p, "m", j, structured)
	for range 2 { // it may have to be sent again
		whole, sizes = nil, nil
		for piece := range body.Pieces {
			whole, sizes = append(whole, piece...), append(sizes, len(piece))
		}
		if len(whole) != body.Len {
			t.Fatalf("%d ids: %d bytes were written, %d announced", len(j.Prompt), len(whole), body.Len)
		}
	}
	return whole, sizes
}

// A prompt of any length is the same JSON, and a long one comes in pieces.
func TestBody(t *testing.T) {
	one := 1.0
	check := func(t interface{ Fatalf(string, ...any) }, ids []uint32) {
		body, sizes := written(t, turn.Job{Prompt: ids, MaxTokens: 7, StopIDs: []uint32{1}, Sampling: turn.Sampling{Temperature: &one}, Salt: "s"})
		var got struct {
			Model     string
			Prompt    []uint32
			MaxTokens int      `json:"max_tokens"`
			Stops     []uint32 `json:"stop_token_ids"`
			Salt      string   `json:"cache_salt"`
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%d ids: %v", len(ids), err)
		}
		if !slices.Equal(got.Prompt, ids) || got.Model != "m" || got.MaxTokens != 7 || len(got.Stops) != 1 || got.Salt != "s" {
			t.Fatalf("%d ids were written as %.200s", len(ids), body)
		}
		if want := max((len(ids)+pieceIDs-1)/pieceIDs, 1); len(sizes) != want {
			t.Fatalf("%d ids came in %d pieces, want %d", len(ids), len(sizes), want)
		}
	}
	for _, n := range []int{0, 1, pieceIDs - 1, pieceIDs, pieceIDs + 1, 2 * pieceIDs, 2*pieceIDs + 5} {
		check(t, promptOf(n))
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, slices.Repeat(rapid.SliceOfN(rapid.Uint32(), 1, 50).Draw(t, "ids"), rapid.IntRange(1, 800).Draw(t, "times")))
	})
}

// A reader of pieces who stops gets no more.
func TestBodyCut(t *testing.T) {
	p := newParcel()
	defer p.release()
	for piece := range bodyOf(p, "m", turn.Job{Prompt: promptOf(5 * pieceIDs)}, structured).Pieces {
		if !bytes.HasPrefix(piece, []byte(`{"model":"m","prompt":[`)) {
			t.Errorf("the first piece is %.40s", piece)
		}
		break
	}
}
