package jinja

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// longer is a context with one more message behind.
func longer(ctx Value, m *Map) Value {
	c := ctx.mapping().clone()
	messages, _ := c.Find("messages")
	c.Set("messages", List(append(slices.Clone(messages.items()), Mapping(m))...))
	return Mapping(c)
}

// When a message is added to the conversation of 201, most templates run no
// more than a few rounds again. The others ask every message for what comes
// after it.
func TestMemoAppend(t *testing.T) {
	ctx, ok := scenarios(t)["perf200"]
	if !ok {
		t.Skip("no perf200.json")
	}
	all := parsed(t)
	few, many := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var m page
		answered := longer(ctx, entry("role", "assistant", "content", "a"))
		var ran []int
		for _, next := range []Value{ctx, answered, longer(answered, entry("role", "user", "content", "b"))} {
			if _, err := m.render(all[name], next, Options{Now: clock}); err != nil {
				break
			}
			ran = append(ran, m.ran)
		}
		switch {
		case len(ran) < 3:
		case max(ran[1], ran[2]) > 8:
			many++
			t.Logf("%s: %d rounds, of the next renderings %d and %d again", name, ran[0], ran[1], ran[2])
		default:
			few++
		}
	}
	t.Logf("%d templates run at most 8 rounds again, %d more", few, many)
	if few < 4*many {
		t.Errorf("%d templates reuse most rounds, %d do not", few, many)
	}
}

// BenchmarkMemo adds a message to the conversation of 201 and takes it away
// again; least-µs is the fastest that it was added.
func BenchmarkMemo(b *testing.B) {
	ctx, ok := scenarios(b)["perf200"]
	if !ok {
		b.Skip("no perf200.json")
	}
	all := parsed(b)
	next := longer(ctx, entry("role", "assistant", "content", "a"))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var m page
			least := time.Hour
			for b.Loop() {
				_, _ = m.render(all[name], ctx, Options{Now: clock})
				from := time.Now()
				_, _ = m.render(all[name], next, Options{Now: clock})
				least = min(least, time.Since(from))
			}
			b.ReportMetric(float64(least.Microseconds()), "least-µs")
		})
	}
}
