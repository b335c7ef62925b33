package tape

import (
	"bytes"
	"encoding/json"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// TestOwn asks for texts and documents of a value in any order, some of them
// again, and gets what a decoder finds, each time.
func TestOwn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"", "plain", "a\nb \"c\" \\ and then more text", "é😀\u0000", "\t\t\t\t\t\t\t\t\t"})
		var doc []any
		for range rapid.IntRange(1, 6).Draw(rt, "elements") {
			doc = append(doc, map[string]any{"k": text.Draw(rt, "k"), "o": map[string]any{"i": text.Draw(rt, "i")}})
		}
		src, err := json.Marshal(doc)
		if err != nil {
			rt.Fatal(err)
		}
		d, err := Parse(src)
		if err != nil {
			rt.Fatal(err)
		}
		defer d.Free()
		var gave []func() (got, want string)
		say := func(got, want string) { gave = append(gave, func() (string, string) { return got, want }) }
		for n, v := range d.Root().Elements() {
			if rapid.Bool().Draw(rt, "own") {
				v.Own(rapid.SampledFrom([]int{0, 1 << 10}).Draw(rt, "most"))
			}
			m := doc[n].(map[string]any)
			for range rapid.IntRange(1, 8).Draw(rt, "asks") {
				o := v.Key("o")
				switch rapid.IntRange(0, 3).Draw(rt, "ask") {
				case 0:
					say(v.Key("k").Text(), m["k"].(string))
				case 1:
					say(o.Key("i").Text(), m["o"].(map[string]any)["i"].(string))
				case 2:
					b := o.Bytes()
					say(unsafe.String(unsafe.SliceData(b), len(b)), string(o.Raw()))
				case 3:
					b := v.Bytes()
					say(unsafe.String(unsafe.SliceData(b), len(b)), string(v.Raw()))
				}
			}
		}
		for i, g := range gave {
			if got, want := g(); got != want {
				rt.Fatalf("answer %d: got %q, want %q", i, got, want)
			}
		}
	})
}

// TestOwnIsACopy reuses the source, as servers do.
func TestOwnIsACopy(t *testing.T) {
	src := []byte(`[{"a":"x\ny","b":{"c":1}}]`)
	d, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range d.Root().Elements() {
		v.Own(1 << 10)
		text, b := v.Key("a").Text(), v.Key("b").Bytes()
		d.Free()
		copy(src, bytes.Repeat([]byte("#"), len(src)))
		if text != "x\ny" || string(b) != `{"c":1}` {
			t.Errorf("got %q and %s", text, b)
		}
	}
}
