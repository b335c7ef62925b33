package blob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

func same(a, b turn.RawTurn) bool {
	return slices.Equal(a.Opening, b.Opening) && slices.Equal(a.IDs, b.IDs) && a.Thinking == b.Thinking
}

func TestBlobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := turn.RawTurn{
			Opening:  rapid.SliceOf(rapid.Uint32()).Draw(t, "opening"),
			IDs:      rapid.SliceOf(rapid.Uint32()).Draw(t, "ids"),
			Thinking: rapid.String().Draw(t, "thinking"),
		}
		b := Append([]byte("x"), &want)[1:]
		var got turn.RawTurn
		if err := Read(b, &got); err != nil || !same(got, want) {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if err := Read(b[:cut], &got); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		b[cut] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if err := Read(b, &got); !errors.Is(err, ErrDamaged) {
			t.Fatalf("flipped at %d: %v", cut, err)
		}
	})
}

// FuzzBlob reads what a database may hold, with a good sum in front: it ends,
// takes memory in proportion to what was read, and what is read is written
// back as something that reads the same.
func FuzzBlob(f *testing.F) {
	raw := turn.RawTurn{Opening: []uint32{1, 33}, IDs: []uint32{0, 127, 128, 151_000, 1<<32 - 1}, Thinking: "hm é"}
	f.Add(Append(nil, &raw)[head:])
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0})
	f.Add(bytes.Repeat([]byte{0xff}, 12))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append([]byte{form, 0, 0, 0, 0}, body...)
		binary.LittleEndian.PutUint32(b[1:], crc32.Checksum(body, castagnoli))
		var got, again turn.RawTurn
		if err := Read(b, &got); err != nil {
			if !errors.Is(err, ErrDamaged) || got.IDs != nil {
				t.Fatalf("%v, and %+v", err, got)
			}
			return
		}
		if len(got.Opening)+len(got.IDs)+len(got.Thinking) > len(body) {
			t.Fatalf("%d bytes gave %d ids", len(body), len(got.IDs))
		}
		if err := Read(Append(nil, &got), &again); err != nil || !same(got, again) {
			t.Fatalf("%+v came back as %+v, %v", got, again, err)
		}
	})
}

func BenchmarkRawTurn(b *testing.B) {
	raw := turn.RawTurn{IDs: make([]uint32, 1000)}
	for i := range raw.IDs {
		raw.IDs[i] = uint32(i*151) % 151_000
	}
	var blob []byte
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			blob = Append(blob[:0], &raw)
		}
		b.ReportMetric(float64(len(blob))/1000, "bytes/id")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if err := Read(blob, &raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
