package gen

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// What the files of a model say of its tokens goes into the spec.
func TestTokens(t *testing.T) {
	template := chat(`{% for c in m.tool_calls or [] %}<|call|>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}<|done|>{% endfor %}`)
	const tokenizer = `{"added_tokens": [
		{"id": 1, "content": "<|call|>", "special": SPECIAL}, {"id": 2, "content": "<|end|>", "special": true},
		{"id": 3, "content": "<|assistant|>", "special": true}, {"id": 4, "content": "<|assistant|>unused", "special": true}, {"id": 5, "content": "<|eot|>", "special": true}]}`
	for name, c := range map[string]struct {
		special string
		stops   string
		need    bool
		stop    []string
	}{
		"special markers": {"true", `[2, 5]`, true, []string{"<|end|>", "<|eot|>"}},
		"plain markers":   {"false", `5`, false, []string{"<|end|>", "<|eot|>"}},
		"no such id":      {"false", `99`, false, []string{"<|end|>"}},
		"no id at all":    {"false", `"x"`, false, []string{"<|end|>"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{
				"tokenizer.json":         {Data: []byte(strings.Replace(tokenizer, "SPECIAL", c.special, 1))},
				"generation_config.json": {Data: []byte(`{"eos_token_id": ` + c.stops + `}`)},
			}
			m := Model{Name: "x", Template: template}
			m.Added, m.Stops = ReadTokens(files)
			r, err := Generate(m)
			if err != nil {
				t.Fatal(err)
			}
			got := r.Spec.Tokens
			if got.NeedSpecial != c.need || !slices.Equal(got.Stop, c.stop) || !slices.Equal(got.Strip, []string{"<|assistant|>"}) {
				t.Errorf("tokens are %+v, want need_special %v, stop %q, strip <|assistant|>", got, c.need, c.stop)
			}
			if r.Spec.Evidence.Verified != Exact {
				t.Errorf("grade %s: %v", r.Spec.Evidence.Verified, r.Failures)
			}
		})
	}
	if added, stops := ReadTokens(fstest.MapFS{}); added != nil || stops != nil {
		t.Errorf("an empty folder says %v, %v", added, stops)
	}
}
