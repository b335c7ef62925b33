package bpe_test

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// conversation makes the text of a coding agent's prompt of about n bytes:
// turns between markers, answers with a call, results that body makes.
func conversation(n int, body func(b *strings.Builder, turn int)) string {
	var b strings.Builder
	b.WriteString("<|im_start|>system\nYou are a coding agent.<|im_end|>\n<|im_start|>user\nPlease fix the failing test.<|im_end|>\n")
	for turn := 0; b.Len() < n; turn++ {
		fmt.Fprintf(&b, "<|im_start|>assistant\nI read the next file.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"/src/part_%d.go\", \"limit\": %d}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n", turn, 100+turn*7)
		body(&b, turn)
		b.WriteString("\n</tool_response><|im_end|>\n")
	}
	return b.String()
}

// sources are conversations about the files of this package.
func sources(t testing.TB, n int) string {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no sources")
	}
	return conversation(n, func(b *strings.Builder, turn int) {
		data, err := os.ReadFile(files[turn%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			fmt.Fprintf(b, "%6d\t%s\n", i+1, line)
		}
	})
}

// listings are conversations with words, paths and numbers drawn by chance,
// which repeat nothing for long.
func listings(n int) string {
	r := rand.New(rand.NewSource(7))
	words := strings.Fields("the file function returns error when context is nil check handler request response server config value index cache block " +
		"token stream router worker engine update test build module package import struct type interface string int bool byte slice map range")
	word := func() string { return words[r.Intn(len(words))] }
	return conversation(n, func(b *strings.Builder, _ int) {
		for range 400 {
			switch r.Intn(12) {
			case 0:
				fmt.Fprintf(b, "\n%5d\t%s_%s(%s, %d)", r.Intn(9000), word(), word(), word(), r.Intn(100_000))
			case 1:
				fmt.Fprintf(b, " /src/%s/%s_%d.go:%d:", word(), word(), r.Intn(99), r.Intn(999))
			default:
				b.WriteString(" " + word())
			}
		}
	})
}

// BenchmarkPrompt encodes prompts of about 60,000 tokens. It reports the best
// time of one, as the thread has worked: what else the machine does counts
// less in it.
func BenchmarkPrompt(b *testing.B) {
	for _, name := range models(b) {
		for _, in := range []struct{ kind, text string }{{"sources", sources(b, 190_000)}, {"listings", listings(190_000)}} {
			b.Run(name+"/"+in.kind, func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				tok := model(b, name)
				ids := tok.Encode(nil, in.text)
				best := int64(math.MaxInt64)
				b.ReportAllocs()
				for b.Loop() {
					start := worked(b)
					ids = tok.Encode(ids[:0], in.text)
					best = min(best, worked(b)-start)
				}
				b.ReportMetric(float64(best)/float64(len(ids)), "ns/token")
			})
		}
	}
}

// worked is the time that this thread has worked, in nanoseconds.
func worked(b *testing.B) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		b.Fatal(err)
	}
	return now.Nano()
}
