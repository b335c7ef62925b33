package bpe_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// What a model's program puts around a text is told by its files, and only
// EncodePrompt puts it there.
func TestAround(t *testing.T) {
	const (
		template = `{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}],` +
			`"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[300],"tokens":["<s>"]},"</s>":{"id":"</s>","ids":[301,302],"tokens":["</s>","x"]}}}`
		bytes = `{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true}`
		llama = `{"tokenizer_class":"LlamaTokenizerFast","bos_token":{"content":"<b>"},"eos_token":"<e>",`
	)
	for _, c := range []struct {
		name, post, config string
		before, after      []uint32
	}{
		{"nothing", `null`, "", nil, nil},
		{"bytes", bytes, "", nil, nil},
		{"template", template, "", []uint32{300}, []uint32{301, 302}},
		{"a sequence", `{"type":"Sequence","processors":[` + bytes + `,` + template + `]}`, "", []uint32{300}, []uint32{301, 302}},
		{"roberta", `{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",0],"trim_offsets":true,"add_prefix_space":true}`, "", []uint32{0}, []uint32{2}},
		{"a kind that nobody knows", `{"type":"Other"}`, "", nil, nil},
		{"settings that overrule", bytes, llama + `"add_bos_token":true,"add_eos_token":false}`, []uint32{310}, nil},
		{"settings that take away", template, llama + `"add_bos_token":false,"add_eos_token":true}`, nil, []uint32{311}},
		{"settings that say nothing", template, llama + `"x":1}`, []uint32{300}, []uint32{301, 302}},
		{"a token that is none", bytes, `{"tokenizer_class":"LlamaTokenizer","bos_token":"<no>","add_bos_token":true}`, nil, nil},
		{"another class", bytes, `{"tokenizer_class":"PreTrainedTokenizerFast","bos_token":"<b>","add_bos_token":true}`, nil, nil},
		{"settings that are none", template, `[`, []uint32{300}, []uint32{301, 302}},
	} {
		folder := fstest.MapFS{"tokenizer.json": {Data: surrounded(t, c.post)}}
		if c.config != "" {
			folder["tokenizer_config.json"] = &fstest.MapFile{Data: []byte(c.config)}
		}
		tok, err := bpe.Open(folder)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		before, after := tok.Around()
		if !slices.Equal(before, c.before) || !slices.Equal(after, c.after) {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, before, after, c.before, c.after)
		}
		plain := tok.Encode(nil, "ab a")
		if got, want := tok.EncodePrompt([]uint32{7}, "ab a"), slices.Concat([]uint32{7}, before, plain, after); !slices.Equal(got, want) {
			t.Errorf("%s: a prompt is %v, want %v", c.name, got, want)
		}
	}
	if _, err := bpe.Read(surrounded(t, `[1]`)); err == nil {
		t.Error("a list was taken for a post_processor")
	}
	tok, err := bpe.ReadTekken(tekken(t, func(object) {}, "ab"))
	if err != nil {
		t.Fatal(err)
	}
	if before, after := tok.Around(); len(after) > 0 || len(before) != 1 || tok.Token(before[0]) != "<s>" {
		t.Errorf("tekken: %v and %v", before, after)
	}
}

// surrounded is a tokenizer.json with a post_processor.
func surrounded(t *testing.T, post string) []byte {
	return made{
		merges: []string{"a b"},
		added:  []map[string]any{{"id": 310, "content": "<b>", "special": true}, {"id": 311, "content": "<e>", "special": true}},
		change: func(file map[string]any) { file["post_processor"] = json.RawMessage(post) },
	}.json(t)
}
