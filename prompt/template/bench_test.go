package template

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// long is a conversation of n messages, 20 KB of system text and about 2 KB
// in each result.
func long(n int) *turn.Turn {
	tn := talk()
	tn.Messages[0].Blocks[0].Text = strings.Repeat("Be brief and careful. ", 1000)
	tn.Messages = tn.Messages[:2]
	for i := 0; len(tn.Messages) < n; i++ {
		id := fmt.Sprint("call", i)
		tn.Messages = append(tn.Messages,
			says(think("I look further."), turn.Block{Text: "Next."}, call(id, "read", fmt.Sprintf(`{"path": "/src/%d.go", "limit": 200}`, i))),
			results(result(id, strings.Repeat(fmt.Sprintf("%d: a line of some file\n", i), 80))))
	}
	return tn
}

// BenchmarkTurn renders a conversation of 400 KB again with one round more.
func BenchmarkTurn(b *testing.B) {
	texts := templates(b)
	for _, name := range []string{"deepseek_v32", "deepseek_v4"} {
		data, err := ours.ReadFile("ours/" + name + ".jinja")
		if err != nil {
			b.Fatal(err)
		}
		texts[name] = string(data)
	}
	for _, name := range sortedKeys(texts) {
		b.Run(name, func(b *testing.B) {
			tmpl := opened(b, texts[name], nil)
			whole := long(400)
			p := Page{Now: clock()}
			if err := tmpl.Render(&p, whole); err != nil {
				b.Skip(err)
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				tn := *whole
				tn.Messages = whole.Messages[:len(whole.Messages)-2*(n%2)]
				if err := tmpl.Render(&p, &tn); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(len(p.Text)), "bytes")
		})
	}
}
