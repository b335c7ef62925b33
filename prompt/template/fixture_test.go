package template

import (
	"testing"
	"testing/fstest"
)

// special are the special tokens of the reference.
const special = `{"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}`

// openText opens a folder with one template.
func openText(text string, switches map[string]any) (*Template, error) {
	return Open(fstest.MapFS{
		"chat_template.jinja":   {Data: []byte(text)},
		"tokenizer_config.json": {Data: []byte(special)},
	}, Options{Switches: switches})
}

func opened(t testing.TB, text string, switches map[string]any) *Template {
	t.Helper()
	tmpl, err := openText(text, switches)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}
