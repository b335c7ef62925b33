package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/prompt/bpe"
	"github.com/agentinfer/dyn/prompt/jinja"
)

// source is what a folder says of its chat template.
type source struct {
	name   string // file it is from
	plain  string
	tools  string // for turns with tools; "" when there is no other
	tokens []variable
}

// find looks for a template where models ship one, in the order in which
// transformers 5 does, GGUF files and our own after it.
func find(fsys fs.FS) (*source, error) {
	config, err := readConfig(fsys, "tokenizer_config.json")
	if err != nil {
		return nil, err
	}
	src := &source{tokens: specialTokens(config)}
	for _, look := range []func(fs.FS, map[string]json.RawMessage, *source) error{
		fromFile, fromJSON, fromConfig, fromGGUF, fromOurs,
	} {
		if err := look(fsys, config, src); err != nil {
			return nil, err
		}
		if src.plain != "" {
			src.addGGUFTokens(fsys)
			return src, nil
		}
	}
	return nil, fmt.Errorf("no chat_template.jinja, and no chat_template in tokenizer_config.json or a .gguf file: %w", fs.ErrNotExist)
}

// readConfig reads a JSON object; no file is an empty one.
func readConfig(fsys fs.FS, name string) (map[string]json.RawMessage, error) {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return m, nil
}

// specialTokens are the entries that name a token: a text, or an object with
// its content.
func specialTokens(config map[string]json.RawMessage) (tokens []variable) {
	for _, name := range sortedKeys(config) {
		if !strings.HasSuffix(name, "_token") {
			continue
		}
		var text string
		var token struct{ Content *string }
		switch raw := config[name]; {
		case json.Unmarshal(raw, &text) == nil && string(raw) != "null":
		case json.Unmarshal(raw, &token) == nil && token.Content != nil:
			text = *token.Content
		default:
			continue
		}
		tokens = append(tokens, variable{name, jinja.String(text)})
	}
	return tokens
}

// fromFile takes chat_template.jinja, and the templates beside it by name.
func fromFile(fsys fs.FS, _ map[string]json.RawMessage, src *source) error {
	src.name = "chat_template.jinja"
	var err error
	if src.plain, err = readText(fsys, src.name); err != nil {
		return err
	}
	src.tools, err = readText(fsys, "additional_chat_templates/tool_use.jinja")
	if src.plain == "" && err == nil {
		src.plain = src.tools
	}
	return err
}

// readText reads a file; no file is no text.
func readText(fsys fs.FS, name string) (string, error) {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// fromJSON takes chat_template.json, which processors ship.
func fromJSON(fsys fs.FS, _ map[string]json.RawMessage, src *source) error {
	m, err := readConfig(fsys, "chat_template.json")
	if err != nil {
		return err
	}
	return src.named("chat_template.json", m["chat_template"])
}

func fromConfig(_ fs.FS, config map[string]json.RawMessage, src *source) error {
	return src.named("tokenizer_config.json", config["chat_template"])
}

// named takes one template, a list of named ones, or an object of them.
func (src *source) named(file string, raw json.RawMessage) error {
	src.name = file
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &src.plain) == nil {
		return nil
	}
	var list []struct{ Name, Template string }
	all := map[string]string{}
	if json.Unmarshal(raw, &list) == nil {
		for _, t := range list {
			all[t.Name] = t.Template
		}
	} else if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("read %s: chat_template is neither text nor a list of named ones", file)
	}
	src.tools, src.plain = all["tool_use"], all["default"]
	if src.plain == "" {
		src.plain = src.tools
	}
	if src.plain == "" {
		return fmt.Errorf("read %s: of the chat templates %s none is named default or tool_use", file, strings.Join(sortedKeys(all), ", "))
	}
	return nil
}

// fromGGUF takes the template of the first GGUF file that is no projector.
func fromGGUF(fsys fs.FS, _ map[string]json.RawMessage, src *source) error {
	name := bpe.GGUF(fsys)
	if name == "" {
		return nil
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := bpe.ReadGGUFChat(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	src.name, src.plain, src.tools = name, m.Template, m.ToolTemplate
	src.add("bos_token", m.BOS)
	src.add("eos_token", m.EOS)
	return nil
}

// addGGUFTokens takes the tokens from the GGUF file where the template is from
// another file, and no file of the tokenizer names them: a template that is put
// beside a GGUF file takes the place of its own. A file that cannot be read is
// not needed for that.
func (src *source) addGGUFTokens(fsys fs.FS) {
	name := bpe.GGUF(fsys)
	if name == "" || name == src.name || src.has("bos_token") || src.has("eos_token") {
		return
	}
	f, err := fsys.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	if m, err := bpe.ReadGGUFChat(f); err == nil {
		src.add("bos_token", m.BOS)
		src.add("eos_token", m.EOS)
	}
}

// has reports whether a token is named.
func (src *source) has(name string) bool {
	return slices.ContainsFunc(src.tokens, func(v variable) bool { return v.name == name })
}

// add names a token, if it is some and has no name yet.
func (src *source) add(name, text string) {
	if text != "" && !src.has(name) {
		src.tokens = append(src.tokens, variable{name, jinja.String(text)})
	}
}

// valueOf makes a value of what encoding/json makes of a document.
func valueOf(v any) (jinja.Value, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return jinja.Value{}, err
	}
	return jinja.Decode(data)
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
