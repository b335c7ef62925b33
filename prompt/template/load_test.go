package template

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentinfer/dyn/turn"
)

// marked is a template that prints a mark, for telling sources apart.
func marked(mark string) string {
	return mark + `{% for m in messages %}{{ m.content }}{% endfor %}`
}

// gguf is a file of string metadata, tokens and the id of bos.
func gguf(texts ...string) *fstest.MapFile {
	var b, body bytes.Buffer
	put := func(v any) { _ = binary.Write(&body, binary.LittleEndian, v) }
	text := func(s string) {
		put(uint64(len(s)))
		body.WriteString(s)
	}
	n := 0
	for i := 0; i+1 < len(texts); i += 2 {
		text(texts[i])
		put(uint32(8))
		text(texts[i+1])
		n++
	}
	text("tokenizer.ggml.tokens")
	put([]uint32{9, 8})
	put(uint64(2))
	text("<pad>")
	text("<bos>")
	text("tokenizer.ggml.bos_token_id")
	put([]uint32{4, 1})
	b.WriteString("GGUF")
	_ = binary.Write(&b, binary.LittleEndian, uint32(3))
	_ = binary.Write(&b, binary.LittleEndian, []uint64{0, uint64(n + 2)})
	b.Write(body.Bytes())
	return &fstest.MapFile{Data: b.Bytes()}
}

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// Where a template is looked for, and which of several is taken.
func TestOpenFrom(t *testing.T) {
	named := `{"bos_token": {"content": "<b>"}, "chat_template": [{"name": "default", "template": ` + quoted(marked("D")) +
		`}, {"name": "tool_use", "template": ` + quoted(marked("T")) + `}]}`
	for _, c := range []struct {
		name         string
		fsys         fstest.MapFS
		plain, tools string
		from         string
	}{
		{"a file", fstest.MapFS{"chat_template.jinja": file(marked("F")), "tokenizer_config.json": file(`{"chat_template": "C"}`)}, "F", "F", "chat_template.jinja"},
		{"a file with one beside it", fstest.MapFS{"chat_template.jinja": file(marked("F")), "additional_chat_templates/tool_use.jinja": file(marked("U"))}, "F", "U", "chat_template.jinja"},
		{"of a processor", fstest.MapFS{"chat_template.json": file(`{"chat_template": ` + quoted(marked("P")) + `}`)}, "P", "P", "chat_template.json"},
		{"in the tokenizer's file", fstest.MapFS{"tokenizer_config.json": file(`{"chat_template": ` + quoted(marked("C")) + `}`)}, "C", "C", "tokenizer_config.json"},
		{"a named list", fstest.MapFS{"tokenizer_config.json": file(named)}, "D", "T", "tokenizer_config.json"},
		{"named by keys", fstest.MapFS{"tokenizer_config.json": file(`{"chat_template": {"tool_use": ` + quoted(marked("T")) + `}}`)}, "T", "T", "tokenizer_config.json"},
		{
			"a GGUF file",
			fstest.MapFS{"mmproj-x.gguf": file("none"), "model-00001-of-2.gguf": gguf("general.name", "x", "tokenizer.chat_template", "{{ bos_token }}"+marked("G"))},
			"<bos>G", "<bos>G", "model-00001-of-2.gguf",
		},
		{
			"a file beside a GGUF file, with the tokens of that",
			fstest.MapFS{"chat_template.jinja": file("{{ bos_token }}" + marked("F")), "m.gguf": gguf("tokenizer.chat_template", marked("G"))},
			"<bos>F", "<bos>F", "chat_template.jinja",
		},
		{
			"a file beside a GGUF file that is none",
			fstest.MapFS{"chat_template.jinja": file("{{ bos_token }}" + marked("F")), "m.gguf": file("GGML....")},
			"F", "F", "chat_template.jinja",
		},
		{
			"a GGUF file with two",
			fstest.MapFS{"m.gguf": gguf("tokenizer.chat_template", marked("G"), "tokenizer.chat_template.tool_use", marked("H"))},
			"G", "H", "m.gguf",
		},
		{"our own", fstest.MapFS{"config.json": file(`{"architectures": ["DeepseekV4ForCausalLM"]}`)}, "<｜begin▁of▁sentence｜><｜User｜>", "<｜begin▁of▁sentence｜>\n\n## Tools", "ours/deepseek_v4.jinja"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := Open(c.fsys, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for want, tools := range map[string][]turn.Tool{c.plain: nil, c.tools: {{Name: "f"}}} {
				if c.plain == c.tools {
					tools = nil
				}
				var p Page
				if err := tmpl.Render(&p, &turn.Turn{Messages: []turn.Message{user("hi")}, Tools: tools}); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(string(p.Text), want) {
					t.Errorf("%d tools: %q, want it to begin with %q", len(tools), p.Text, want)
				}
			}
			if tmpl.Name() != c.from {
				t.Errorf("from %s, want %s", tmpl.Name(), c.from)
			}
		})
	}
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// What cannot be opened says why.
func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		fsys fstest.MapFS
		o    Options
		want string
	}{
		{"nothing", fstest.MapFS{"config.json": file(`{"architectures": ["OtherForCausalLM"]}`)}, Options{}, "no chat_template.jinja"},
		{"no JSON", fstest.MapFS{"tokenizer_config.json": file(`{`)}, Options{}, "read tokenizer_config.json"},
		{"no text", fstest.MapFS{"tokenizer_config.json": file(`{"chat_template": 5}`)}, Options{}, "neither text nor a list"},
		{"no such name", fstest.MapFS{"tokenizer_config.json": file(`{"chat_template": [{"name": "rag", "template": "x"}]}`)}, Options{}, "of the chat templates rag none"},
		{"no template", fstest.MapFS{"chat_template.jinja": file(`{% if %}`)}, Options{}, "TemplateSyntaxError"},
		{"no GGUF", fstest.MapFS{"m.gguf": file(`GGML....`)}, Options{}, "m.gguf: no GGUF file"},
		{"a switch that is no value", fstest.MapFS{"chat_template.jinja": file(`x`)}, Options{Switches: map[string]any{"f": func() {}}}, "switch f"},
	} {
		_, err := Open(c.fsys, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		if missing := errors.Is(err, fs.ErrNotExist); missing != (c.name == "nothing") {
			t.Errorf("%s: counts as not there: %v", c.name, missing)
		}
	}
}
