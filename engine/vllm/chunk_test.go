package vllm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentinfer/dyn/engine/remote"
)

const sample = `{"id":"cmpl-t0123456789abcdef","object":"text_completion","created":1795977649,"model":"tiny",` +
	`"choices":[{"index":0,"text":" list","logprobs":null,"finish_reason":null,"stop_reason":null,` +
	`"prompt_token_ids":null,"token_ids":[108675]}]}`

func TestChunk(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       chunk
	}{
		{"usual", sample, chunk{text: " list", ids: []uint32{108675}}},
		{"spaces", ` { "choices" : [ { "token_ids" : [ 1 , 2 ] , "text" : "a" } ] } `, chunk{text: "a", ids: []uint32{1, 2}}},
		{"escapes", `{"choices":[{"text":"a\"\\\/\b\f\n\r\té\ud83c\udfd4"}]}`, chunk{text: "a\"\\/\b\f\n\r\té🏔"}},
		{"lone surrogates", `{"choices":[{"text":"\ud83c x \udfd4"}]}`, chunk{text: "\uFFFD x \uFFFD"}},
		{"null text", `{"choices":[{"text":null,"token_ids":null}]}`, chunk{}},
		{"second choice", `{"choices":[{"text":"a"},{"text":"b"}]}`, chunk{text: "a"}},
		{"stop id", `{"choices":[{"finish_reason":"stop","stop_reason":7}]}`, chunk{finish: "stop", stop: stop{id: 7, byID: true}}},
		{"stop text", `{"choices":[{"finish_reason":"stop","stop_reason":"x"}]}`, chunk{finish: "stop", stop: stop{text: "x", byText: true}}},
		{"strange reason", `{"choices":[{"finish_reason":"repetition"}]}`, chunk{finish: "repetition"}},
		{
			"usage", `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`,
			chunk{usage: usage{set: true, prompt: 5, output: 3, cached: 4, cachedSet: true}},
		},
		{
			"usage of nulls", `{"usage":{"prompt_tokens":5,"completion_tokens":null,"prompt_tokens_details":{"cached_tokens":null,"x":{}}}}`,
			chunk{usage: usage{set: true, prompt: 5}},
		},
		{
			"usage of nonsense", `{"usage":{"prompt_tokens":9223372036854775808,"completion_tokens":-3,"prompt_tokens_details":{"cached_tokens":-5}}}`,
			chunk{usage: usage{set: true, prompt: remote.Most, cachedSet: true}},
		},
		{"the largest id", `{"choices":[{"token_ids":[4294967295]}]}`, chunk{ids: []uint32{4294967295}}},
		{"no usage", `{"usage":null,"choices":null}`, chunk{}},
		{"error", `{"error": {"message": "m\n", "type": "t", "param": "p", "code": 503}}`, chunk{fault: &fault{503, "m\n"}}},
		{"bare error", `{"error":"Unauthorized"}`, chunk{fault: &fault{500, "Unauthorized"}}},
		{"null error", `{"error":null}`, chunk{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := new(reader).read([]byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if !same(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func same(a, b chunk) bool {
	if (a.fault == nil) != (b.fault == nil) || (a.fault != nil && *a.fault != *b.fault) {
		return false
	}
	return a.text == b.text && slices.Equal(a.ids, b.ids) && a.finish == b.finish && a.stop == b.stop && a.usage == b.usage
}

func TestBrokenChunks(t *testing.T) {
	for _, data := range []string{
		``, `null`, `[]`, `{`, `{"choices"`, `{"choices":[`, `{"choices":[{"text":"a`, `{"choices":[{"token_ids":[1,x]}]}`,
		`{"choices":[{"token_ids":[12345678901]}]}`, `{"choices":[{"token_ids":[-1]}]}`, `{"a":[[[`, `{"a"}`, `{:}`, `{"text":"\`,
	} {
		if _, err := new(reader).read([]byte(data)); err == nil {
			t.Errorf("%q was read", data)
		}
	}
}

// Ids of earlier chunks stay as they were while later ones are read.
func TestIDsAreNotShared(t *testing.T) {
	var r reader
	var all [][]uint32
	for i := range 2000 {
		c, err := r.read(fmt.Appendf(nil, `{"choices":[{"token_ids":[%d,%d]}]}`, i, i+1))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, append(c.ids, 99)[:2])
	}
	for i, ids := range all {
		if !slices.Equal(ids, []uint32{uint32(i), uint32(i + 1)}) {
			t.Fatalf("chunk %d now holds %v", i, ids)
		}
	}
}

// So do texts.
func TestTextsAreNotShared(t *testing.T) {
	var r reader
	var all []string
	for i := range 3000 {
		c, err := r.read(fmt.Appendf(nil, `{"choices":[{"text":"%d\u00e9%s"}]}`, i, strings.Repeat("x", i%400)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.text)
	}
	for i, text := range all {
		if want := fmt.Sprint(i) + "é" + strings.Repeat("x", i%400); text != want {
			t.Fatalf("chunk %d now holds %q", i, text)
		}
	}
}

func TestChunkAllocates(t *testing.T) {
	var r reader
	data := []byte(sample)
	n := testing.AllocsPerRun(1000, func() {
		if _, err := r.read(data); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 { // a piece of memory lasts for hundreds of chunks
		t.Errorf("%v allocations a chunk", n)
	}
}

// TestSmallAnswers: a first chunk takes little memory, later ones more at a time.
func TestSmallAnswers(t *testing.T) {
	var r reader
	for i := range 1000 {
		if _, err := r.read([]byte(sample)); err != nil {
			t.Fatal(err)
		}
		if i == 0 && (cap(r.slab) > 64 || r.texts.Cap() > 256) {
			t.Errorf("room for %d ids and %d bytes", cap(r.slab), r.texts.Cap())
		}
	}
	if cap(r.slab) != slabIDs || r.texts.Cap() < slabText {
		t.Errorf("after many, room for %d ids and %d bytes", cap(r.slab), r.texts.Cap())
	}
}

// Whatever the bytes are, reading ends; and what the standard library reads in
// the usual form reads the same here.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"choices":[{"text":"\ud83c\udfd4\"","finish_reason":"stop","stop_reason":"x"}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"choices":[{"text":"a","logprobs":{"tokens":["a",null],"token_logprobs":[null,-1e3,"x"],"top_logprobs":[{"a":-0.5,"b":[]}]}}]}`))
	f.Add([]byte(`{"error":{"message":"m","code":1e3},"a":[{"b":[]},"c"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := new(reader).read(data)
		var want struct{ Choices []struct{ Text *string } }
		if json.Unmarshal(data, &want) != nil || len(want.Choices) != 1 || want.Choices[0].Text == nil || !utf8.Valid(data) {
			return
		}
		low := bytes.ToLower(data) // a name written twice, or in capitals, is read otherwise
		if bytes.Count(low, []byte("text")) != 1 || bytes.Count(low, []byte("choices")) != 1 || bytes.Contains(low, []byte(`\u00`)) {
			return
		}
		if !bytes.Contains(data, []byte(`"text"`)) || !bytes.Contains(data, []byte(`"choices"`)) {
			return
		}
		if err == nil && got.text != *want.Choices[0].Text {
			t.Errorf("text is %q, want %q", got.text, *want.Choices[0].Text)
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	var r reader
	data := []byte(sample)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.read(data); err != nil {
			b.Fatal(err)
		}
	}
}
