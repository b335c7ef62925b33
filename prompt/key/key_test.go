package key

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// all returns the keys of messages.
func all(ms []turn.Message) (keys []Key) {
	var k Maker
	for i := range ms {
		keys = append(keys, k.Of(&ms[i]))
	}
	return keys
}

// talk returns n messages of so many bytes.
func talk(n, size int) (ms []turn.Message) {
	for i := range n {
		ms = append(ms, turn.Message{Role: turn.User, Blocks: []turn.Block{{Text: fmt.Sprint(i) + strings.Repeat("x", size)}}})
	}
	return ms
}

// TestNote: noted keys are those that are made without, go along with copies
// and stay behind when a message comes to say something else.
func TestNote(t *testing.T) {
	ms := append(talk(5, 100), turn.Message{Role: turn.Assistant})
	want := all(ms)
	Note(ms[:2])
	ms[0].SetKey(want[0].Lo+1, want[0].Hi)
	if Note(ms); all(ms)[0] == want[0] {
		t.Error("a key was made anew")
	}
	ms[0].SetKey(want[0].Lo, want[0].Hi)
	if got := all(slices.Clone(ms)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	grown := slices.Clone(ms)
	grown[1].Blocks = append(slices.Clip(grown[1].Blocks), turn.Block{Text: "more"})
	grown[2].Role = turn.Assistant
	got := all(grown)
	for i := range ms {
		if changed := i == 1 || i == 2; (got[i] != want[i]) != changed {
			t.Errorf("message %d: key %v, was %v", i, got[i], want[i])
		}
	}
}

// BenchmarkOf makes the keys of a conversation of 240 KB, and looks them up.
func BenchmarkOf(b *testing.B) {
	for _, noted := range []bool{false, true} {
		b.Run(fmt.Sprintf("noted=%v", noted), func(b *testing.B) {
			ms := talk(120, 2000)
			if noted {
				Note(ms)
			}
			var k Maker
			b.SetBytes(240_000)
			for b.Loop() {
				for i := range ms {
					k.Of(&ms[i])
				}
			}
		})
	}
}
