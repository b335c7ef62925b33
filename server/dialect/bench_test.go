package dialect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// bigMessages returns a body of about 240 KB: a tool loop with many results.
func bigMessages() []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"m","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"` +
		strings.Repeat("You help with software. ", 280) + `","cache_control":{"type":"ephemeral"}}],"tools":[`)
	for i := range 14 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"Tool%d","description":"%s","input_schema":{"type":"object","properties":{`, i,
			strings.Repeat(`Reads a file.\n`, 130))
		for j := range 6 {
			fmt.Fprintf(&b, `%s"p%d":{"type":"string","description":"A path, with some words about it."}`,
				strings.Repeat(",", min(j, 1)), j)
		}
		b.WriteString(`},"required":["p0"],"additionalProperties":false}}`)
	}
	b.WriteString(`],"messages":[{"role":"user","content":"do the job"}`)
	line := strings.Repeat(`\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n`, 28)
	for i := 0; b.Len() < 240_000; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"Next."},{"type":"tool_use","id":"toolu_%d","name":"Tool1","input":{"p0":"/a/b.go"}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":[{"type":"text","text":"%s"}]}]}`, i, line)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	body := bigMessages()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (messages{}).Decode(body, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	for _, d := range []turn.Dialect{turn.Messages, turn.Responses, turn.Chat} {
		b.Run(string(d), func(b *testing.B) {
			enc := For(d).Stream(&turn.Turn{ID: "t0", Model: "m"})
			buf := enc.Open(nil, turn.Usage{})
			b.ReportAllocs()
			for b.Loop() {
				buf = enc.Event(buf[:0], turn.Event{Kind: turn.Says, Text: " a token"})
			}
		})
	}
}

// BenchmarkDecodeAgain decodes a body that goes on from the one before: a
// conversation of 400 KB, of which two messages are new.
func BenchmarkDecodeAgain(b *testing.B) {
	body := bigMessages()
	for len(body) < 400_000 {
		body = append(bytes.TrimSuffix(body, []byte("]}")), bytes.Replace(body[bytes.Index(body, []byte(`,{"role":"assistant"`)):], []byte("]}]}]}"), []byte("]}]}]}"), 1)...)
	}
	longer := append(bytes.TrimSuffix(bytes.Clone(body), []byte("]}")), `,{"role":"assistant","content":"next"},{"role":"user","content":"go on"}]}`...)
	rc := NewRecall(64 << 20)
	b.SetBytes(int64(len(longer)))
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if _, err := (messages{}).Decode(body, nil, rc); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := (messages{}).Decode(longer, nil, rc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnswer writes whole answers of one piece: as a stream, with what
// opens and ends it, and as a document.
func BenchmarkAnswer(b *testing.B) {
	end := turn.Event{Kind: turn.Finish, Reason: turn.Ended, Usage: turn.Usage{Prompt: 2000, Cached: 1000, Output: 1}}
	says := turn.Event{Kind: turn.Says, Text: " a token"}
	for _, d := range []turn.Dialect{turn.Messages, turn.Responses, turn.Chat} {
		t := &turn.Turn{ID: "t0123456789abcdef", Model: "m", Dialect: d, Messages: []turn.Message{{Role: turn.User}}}
		if d == turn.Responses {
			t.Echo = echoNothing
		}
		b.Run(string(d)+"/stream", func(b *testing.B) {
			buf := make([]byte, 0, 16<<10)
			b.ReportAllocs()
			for b.Loop() {
				enc := For(d).Stream(t)
				buf = enc.Open(buf[:0], turn.Usage{Prompt: 2000})
				buf = enc.Event(buf, says)
				buf = enc.Event(buf, end)
			}
		})
		b.Run(string(d)+"/document", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				doc := For(d).Document(t)
				doc.Add(says)
				doc.Add(end)
				doc.JSON()
			}
		})
	}
}

// BenchmarkDecodeAmong decodes the next turn of one of 64 conversations that
// begin with the same 32 KB.
func BenchmarkDecodeAmong(b *testing.B) {
	const many = 64
	begin := `{"role":"user","content":"` + strings.Repeat("the same for all. ", 32<<10/18) + `"}`
	rest := strings.Repeat(`,{"role":"user","content":"`+strings.Repeat("of one alone. ", 200)+`"}`, 10)
	var bodies [many][]byte
	for i := range bodies {
		bodies[i] = fmt.Appendf(nil, `{"model":"m","messages":[%s,{"role":"user","content":"%d"}%s]}`, begin, i*7919%many, rest)
	}
	rc := NewRecall(64 << 20)
	b.SetBytes(int64(len(bodies[0])))
	for i := 0; b.Loop(); i++ {
		if _, err := (chat{}).Decode(bodies[i%many], nil, rc); err != nil {
			b.Fatal(err)
		}
	}
	if s := rc.Stats(); s.Hits*10 < s.Seen*9 && b.N > 20*many {
		b.Fatalf("%+v", s)
	}
}
