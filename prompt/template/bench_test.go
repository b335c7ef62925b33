package template

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/internal/fixtures"
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
// On a machine that does other things too, the fastest of many renderings says
// most: least-µs.
func BenchmarkTurn(b *testing.B) {
	texts := fixtures.Templates(b)
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
			n, least := 0, time.Hour
			for b.Loop() {
				tn := *whole
				tn.Messages = whole.Messages[:len(whole.Messages)-2*(n%2)]
				from := time.Now()
				if err := tmpl.Render(&p, &tn); err != nil {
					b.Fatal(err)
				}
				if n%2 == 0 {
					least = min(least, time.Since(from))
				}
				n++
			}
			b.ReportMetric(float64(len(p.Text)), "bytes")
			b.ReportMetric(float64(least.Microseconds()), "least-µs")
		})
	}
}

// prose is text of so many bytes as agents send it.
func prose(r *rand.Rand, n int) string {
	words := strings.Fields("the file function returns \"error\" when context is nil\n check handler request response server config value index cache {block} token")
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(" \n"[r.IntN(20)/19])
	}
	return b.String()[:n]
}

// session is a conversation of about so many bytes with three tools, or twelve
// if it is long: results of 700 to 3,900 bytes.
func session(bytes int) *turn.Turn {
	r := rand.New(rand.NewPCG(11, 3))
	tools, system := 3, 1500
	if bytes > 24000 {
		tools, system = 12, 9500
	}
	tn := new(turn.Turn)
	for i := range tools {
		tn.Tools = append(tn.Tools, turn.Tool{
			Name: fmt.Sprint("tool", i), Description: prose(r, 300),
			Schema: []byte(fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string","description":%q},"content":{"type":"string","description":%q},"timeout":{"type":"integer","minimum":0,"description":%q}},"required":["path"]}`,
				prose(r, 80), prose(r, 90), prose(r, 60))),
		})
	}
	tn.Messages = append(tn.Messages, message(turn.System, prose(r, system)), user(prose(r, 300)))
	for left := bytes - system - 300 - tools*700; left > 300; {
		size := min(left-150, 700+r.IntN(3200))
		id := fmt.Sprintf("call_%08x", r.Uint32())
		tn.Messages = append(tn.Messages,
			says(turn.Block{Text: prose(r, 120)}, call(id, "tool1", fmt.Sprintf(`{"path":"/src/a.go","content":%q}`, prose(r, size/6)))),
			results(result(id, prose(r, size-size/6))))
		left -= size + 150
	}
	return tn
}

const benched = "dj-Qwen-Qwen3-0.6B"

// BenchmarkFirst renders the first turn of a session that nobody knows; held
// is what its page holds then.
func BenchmarkFirst(b *testing.B) {
	for _, tokens := range []int{2000, 20000, 60000} {
		b.Run(fmt.Sprint(tokens), func(b *testing.B) {
			tmpl := opened(b, fixtures.Templates(b)[benched], nil)
			tn := session(tokens * 293 / 100)
			b.ReportAllocs()
			least, held := time.Hour, 0
			for b.Loop() {
				p := Page{Now: clock()}
				from := time.Now()
				if err := tmpl.Render(&p, tn); err != nil {
					b.Fatal(err)
				}
				least, held = min(least, time.Since(from)), p.Bytes()
			}
			b.ReportMetric(float64(least.Nanoseconds())/1e3, "least-µs")
			b.ReportMetric(float64(held), "held")
		})
	}
}

// BenchmarkNext renders a session of 60,000 tokens with its last round taken
// away and added again in turns.
func BenchmarkNext(b *testing.B) {
	tmpl := opened(b, fixtures.Templates(b)[benched], nil)
	whole := session(60000 * 293 / 100)
	p := Page{Now: clock()}
	if err := tmpl.Render(&p, whole); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n, least := 0, time.Hour
	for b.Loop() {
		tn := *whole
		tn.Messages = whole.Messages[:len(whole.Messages)-2*(n%2)]
		p.Known = len(whole.Messages) - 2
		from := time.Now()
		if err := tmpl.Render(&p, &tn); err != nil {
			b.Fatal(err)
		}
		if n%2 == 0 {
			least = min(least, time.Since(from))
		}
		n++
	}
	b.ReportMetric(float64(least.Nanoseconds())/1e3, "least-µs")
	b.ReportMetric(float64(len(whole.Messages)), "messages")
}
