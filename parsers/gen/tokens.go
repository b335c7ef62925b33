package gen

import (
	"encoding/json"
	"io/fs"
	"strings"
)

// ReadTokens reads what a model folder says of its tokens: the added ones, and
// the texts of those that end a turn. Files that are not there, or cannot be
// read, say nothing.
func ReadTokens(fsys fs.FS) (added []Token, stops []string) {
	var tokenizer struct {
		Added []struct {
			ID      int    `json:"id"`
			Content string `json:"content"`
			Special bool   `json:"special"`
		} `json:"added_tokens"`
	}
	read := func(name string, into any) bool {
		data, err := fs.ReadFile(fsys, name)
		return err == nil && json.Unmarshal(data, into) == nil
	}
	if !read("tokenizer.json", &tokenizer) {
		return nil, nil
	}
	ids := map[int]string{}
	for _, t := range tokenizer.Added {
		added = append(added, Token{t.Content, t.Special})
		ids[t.ID] = t.Content
	}
	var config struct {
		EOS json.RawMessage `json:"eos_token_id"`
	}
	if read("generation_config.json", &config) {
		var one int
		var many []int
		if json.Unmarshal(config.EOS, &one) == nil {
			many = []int{one}
		} else {
			_ = json.Unmarshal(config.EOS, &many) // neither: it says nothing
		}
		for _, id := range many {
			if s := ids[id]; s != "" {
				stops = append(stops, s)
			}
		}
	}
	return added, stops
}

// ReadResponse reads the response_template of a model folder; nil where there
// is none.
func ReadResponse(fsys fs.FS) []byte {
	data, err := fs.ReadFile(fsys, "tokenizer_config.json")
	var config struct {
		Response json.RawMessage `json:"response_template"`
	}
	if err != nil || json.Unmarshal(data, &config) != nil || string(config.Response) == "null" {
		return nil
	}
	return config.Response
}

// special reports whether a marker of the spec is a special token, so that it
// is seen only where those are decoded.
func (r *Result) special(added []Token) bool {
	is := map[string]bool{}
	for _, t := range added {
		is[t.Text] = t.Special
	}
	for key, marks := range r.Spec.Markers() {
		if key == "absorb" || strings.HasPrefix(key, "tokens.") {
			continue // these need not be seen
		}
		for _, m := range marks {
			for _, tag := range append(tags(m), m) {
				if is[tag] {
					return true
				}
			}
		}
	}
	return false
}

// strip are the special tokens that the template writes and that neither the
// spec's markers hold nor end a turn: a model that writes one means nothing by
// it.
func (r *Result) strip(added []Token, source string) (all []string) {
	known := strings.Join(r.Spec.Tokens.Stop, " ")
	for _, marks := range r.Spec.Markers() {
		known += " " + strings.Join(marks, " ")
	}
	for _, t := range added {
		if t.Special && t.Text != "" && strings.Contains(source, t.Text) && !strings.Contains(known, t.Text) {
			all = append(all, t.Text)
		}
	}
	return all
}
