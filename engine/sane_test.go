package engine

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestSane(t *testing.T) {
	got := sane(Seen{Caps: turn.Capabilities{
		Model: "\x1b[2Jtiny\x00\xff", Engine: strings.Repeat("é", 1<<20), Context: -1, BlockSize: 1 << 40, KVTokens: 7, MaxSeqs: -9,
	}})
	want := turn.Capabilities{Model: " [2Jtiny ", Engine: strings.Repeat("é", mostName/2), KVTokens: 7}
	if got.Caps != want {
		t.Errorf("%+v", got.Caps)
	}
	usual := Seen{Caps: turn.Capabilities{Model: "größer/日本", Engine: "vllm 0.32.0+cpu", Context: 4096, BlockSize: 16}}
	if got := sane(usual); got != usual {
		t.Errorf("%+v", got)
	}
}
