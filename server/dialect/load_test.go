package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// slot stands in a load's body for what makes requests differ.
const slot = "@@@@SLOT-SLOT-SLOT-SLOT-SLOT-SLOT-SLOT@@"

// load returns a chat body of about so many tokens, as the load generator of
// docs/bench.md sends it: tools, a system prompt and a loop of calls.
func load(tokens int) []byte {
	r := rand.New(rand.NewPCG(11, 3))
	k, sys := 3, 1500
	if tokens > 8000 {
		k, sys = 12, 9500
	}
	tools := loadTools(k)
	raw, _ := json.Marshal(tools)
	ms := []any{
		map[string]any{"role": "system", "content": slot + prose(r, sys)},
		map[string]any{"role": "user", "content": prose(r, 300)},
	}
	for i, left := 0, tokens*293/100-len(raw)-sys-340; left > 300; i++ {
		n := min(left-150, 700+r.IntN(3200))
		ms = append(ms, loadCall(r, i, n)...)
		left -= n + 150
	}
	body, _ := json.Marshal(map[string]any{
		"model": "qwen3", "messages": ms, "tools": tools, "max_tokens": 1, "temperature": 0, "ignore_eos": true,
	})
	return body
}

func loadTools(k int) (tools []any) {
	r := rand.New(rand.NewPCG(7, 7))
	field := func(kind string, n int) any { return map[string]any{"type": kind, "description": prose(r, n)} }
	for i := range k {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": fmt.Sprintf("tool%d", i), "description": prose(r, 300+i*90),
			"parameters": map[string]any{"type": "object", "required": []string{"path"}, "properties": map[string]any{
				"path": field("string", 80), "content": field("string", 90), "timeout": field("integer", 60),
			}},
		}})
	}
	return tools
}

func loadCall(r *rand.Rand, i, size int) []any {
	id := fmt.Sprintf("call_%08x", r.Uint32())
	args, _ := json.Marshal(map[string]any{"path": "/src/cache/token.go", "content": prose(r, size/6)})
	return []any{
		map[string]any{"role": "assistant", "content": prose(r, 120), "tool_calls": []any{map[string]any{
			"id": id, "type": "function", "function": map[string]any{"name": fmt.Sprintf("tool%d", i%3), "arguments": string(args)},
		}}},
		map[string]any{"role": "tool", "tool_call_id": id, "content": prose(r, size-size/6)},
	}
}

// prose returns words with lines of code among them.
func prose(r *rand.Rand, n int) string {
	words := strings.Fields("the file returns error when context is nil check handler request token stream router worker")
	word := func() string { return words[r.IntN(len(words))] }
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "\n%5d\t%s_%s(%s, %d)", r.IntN(9000), word(), word(), word(), r.IntN(100000))
		case 1:
			fmt.Fprintf(&b, " /src/%s/%s_%d.go:%d:", word(), word(), r.IntN(99), r.IntN(999))
		default:
			b.WriteString(" " + word())
		}
	}
	return b.String()[:n]
}

// BenchmarkLoad decodes the bodies of the load generator: first turns, each
// with its own beginning, as the server does it.
func BenchmarkLoad(b *testing.B) {
	for _, tokens := range []int{2000, 20000, 60000} {
		b.Run(fmt.Sprintf("%dk", tokens/1000), func(b *testing.B) {
			body := load(tokens)
			at := bytes.Index(body, []byte(slot))
			rc := NewRecall(64 << 20)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				copy(body[at:], fmt.Appendf(nil, "%012d", i))
				if _, err := (chat{}).Decode(body, nil, rc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoadAgain decodes a turn that goes on from the one before, of which
// the last message is new, without any header that says so.
func BenchmarkLoadAgain(b *testing.B) {
	body := load(60000)
	end := bytes.LastIndex(body, []byte(`],"model"`))
	const more = `,{"role":"user","content":"000000000000 go on"}`
	body = append(append(bytes.Clone(body[:end]), more...), body[end:]...)
	at := end + bytes.Index([]byte(more), []byte("0000"))
	rc := NewRecall(64 << 20)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		copy(body[at:], fmt.Appendf(nil, "%012d", i))
		if _, err := (chat{}).Decode(body, nil, rc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecorded decodes the longest request of each dialect that was
// recorded.
func BenchmarkRecorded(b *testing.B) {
	all, err := loadRecordings(fixturesDir())
	if err != nil || len(all) == 0 {
		b.Skip("no recordings", err)
	}
	for _, c := range []Codec{messages{}, responses{}, chat{}} {
		var longest *recorded
		for i := range all {
			if codecOf(&all[i]) == c && (longest == nil || len(all[i].full) > len(longest.full)) {
				longest = &all[i]
			}
		}
		b.Run(string(c.Dialect()), func(b *testing.B) {
			b.SetBytes(int64(len(longest.full)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Decode(longest.full, longest.header, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
