package jinja

import (
	"maps"
	"slices"
	"testing"
)

// longer is a context with one more message behind.
func longer(ctx Value, m *Map) Value {
	c := ctx.mapping().clone()
	messages, _ := c.Find("messages")
	c.Set("messages", List(append(slices.Clone(messages.items()), Mapping(m))...))
	return Mapping(c)
}

// TestMemoAppend shows how many rounds run again when a message is added to
// the conversation of 201.
func TestMemoAppend(t *testing.T) {
	dir := fixtures(t)
	ctx, ok := scenarios(t, dir)["perf200"]
	if !ok {
		t.Skip("no perf200.json")
	}
	all := parsed(t, dir)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var m Memo
		var ran [3]int
		for i, next := range []Value{ctx, longer(ctx, entry("role", "assistant", "content", "a")), longer(longer(ctx, entry("role", "assistant", "content", "a")), entry("role", "user", "content", "b"))} {
			if _, err := all[name].RenderMemo(nil, next, Options{Now: clock}, &m); err != nil {
				t.Logf("%s: %v", name, err)
			}
			ran[i] = m.ran
		}
		t.Logf("%-60s rounds run: %3d, of the next: %3d, %3d", name, ran[0], ran[1], ran[2])
	}
}

// BenchmarkMemo adds a message to the conversation of 201.
func BenchmarkMemo(b *testing.B) {
	dir := fixtures(b)
	ctx, ok := scenarios(b, dir)["perf200"]
	if !ok {
		b.Skip("no perf200.json")
	}
	all := parsed(b, dir)
	next := longer(ctx, entry("role", "assistant", "content", "a"))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			var m Memo
			for b.Loop() {
				dst, _ = all[name].RenderMemo(dst[:0], ctx, Options{Now: clock}, &m)
				dst, _ = all[name].RenderMemo(dst[:0], next, Options{Now: clock}, &m)
			}
		})
	}
}
