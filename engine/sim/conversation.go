package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// templates are the chat template of the model folder, one for each set of
// variables that chats asked for.
type templates struct {
	fsys fs.FS

	mu   sync.Mutex // guards made
	made map[string]*template.Template
}

// maxTemplates is how many are kept.
const maxTemplates = 16

// of returns the template with the variables of a JSON object.
func (t *templates) of(kwargs gjson.Result) (*template.Template, *problem) {
	key := "{}"
	if kwargs.IsObject() {
		key = kwargs.Raw
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := t.made[key]; have != nil {
		return have, nil
	}
	var o template.Options
	if err := json.Unmarshal([]byte(key), &o.Switches); err != nil {
		return nil, bad("chat_template_kwargs: %s", err)
	}
	made, err := template.Open(t.fsys, o)
	if err != nil {
		return nil, bad("As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one.")
	}
	if t.made == nil || len(t.made) >= maxTemplates {
		t.made = map[string]*template.Template{}
	}
	t.made[key] = made
	return made, nil
}

// conversation is what a chat asks the model to go on from.
type conversation struct {
	ids   []uint32
	tail  string // the end of its prompt
	tools bool
	offer []turn.Tool
}

// tailBytes is how much of a prompt's end is looked at.
const tailBytes = 256

// offered are the tools of a chat.
func offered(list gjson.Result) (all []turn.Tool) {
	list.ForEach(func(_, t gjson.Result) bool {
		f := t.Get("function")
		all = append(all, turn.Tool{Name: f.Get("name").Str, Bare: f.Get("name").Str, Schema: json.RawMessage(f.Get("parameters").Raw)})
		return true
	})
	return all
}

// converse renders the messages of a body by the folder's own template.
func (s *server) converse(body gjson.Result) (conversation, *problem) {
	var c conversation
	list := body.Get("messages")
	if !list.IsArray() || len(list.Array()) == 0 {
		var f fields
		f.complain("missing", "body.messages", "Field required", "<dict of 1 items>", "")
		return c, f.problem()
	}
	t, p := s.templates.of(body.Get("chat_template_kwargs"))
	if p != nil {
		return c, p
	}
	g := template.Given{Now: time.Now()}
	if g.Messages, p = s.messages(list); p != nil {
		return c, p
	}
	if tools := body.Get("tools"); tools.IsArray() && len(tools.Array()) > 0 {
		g.Tools, c.tools, c.offer = []byte(tools.Raw), true, offered(tools)
	}
	text, err := t.RenderGiven(g)
	if err != nil {
		return c, bad("%s", err)
	}
	c.ids = s.folder.tok.Encode(nil, text)
	c.tail = strings.ToValidUTF8(text[max(len(text)-tailBytes, 0):], "")
	return c, nil
}

// messages are those of a chat as the copied server hands them to a template:
// contents are texts, never null or lists, arguments of calls are values.
func (s *server) messages(list gjson.Result) ([]byte, *problem) {
	b := []byte{'['}
	var p *problem
	list.ForEach(func(_, m gjson.Result) bool {
		if !m.IsObject() {
			p = bad("messages must be objects")
			return false
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '{')
		m.ForEach(func(key, v gjson.Result) bool {
			if key.Str == "content" {
				return true
			}
			b = append(append(append(b, key.Raw...), ':'), withValues(key.Str, v)...)
			b = append(b, ',')
			return true
		})
		var text string
		if text, p = s.text(m.Get("content")); p != nil {
			return false
		}
		b = append(appendText(append(b, `"content":`...), []byte(text)), '}')
		return true
	})
	return append(b, ']'), p
}

// text is a content. An image is known by its content.
func (s *server) text(v gjson.Result) (string, *problem) {
	if v.Type == gjson.String || !v.IsArray() {
		return v.Str, nil
	}
	var parts []string
	var p *problem
	v.ForEach(func(_, part gjson.Result) bool {
		url := part.Get("image_url.url").Str
		switch {
		case part.Get("type").Str == "text":
			parts = append(parts, part.Get("text").Str)
		case url == "":
			p = bad("Unknown part type: %s", part.Get("type").Str)
		case !s.o.vision:
			p = bad("At most 0 image(s) may be provided in one prompt.")
		case !strings.HasPrefix(url, "data:image/"):
			p = bad("Invalid or unsupported image URL: only data URLs are read here")
		default:
			sum := sha256.Sum256([]byte(url))
			parts = append(parts, fmt.Sprintf("<|image %s|>", hex.EncodeToString(sum[:8])))
		}
		return p == nil
	})
	return strings.Join(parts, "\n"), p
}

// withValues is a member of a message; of calls the arguments, which come as a
// text, are the value that the text is.
func withValues(key string, v gjson.Result) string {
	if key != "tool_calls" || !v.IsArray() {
		return v.Raw
	}
	var calls []map[string]json.RawMessage
	if json.Unmarshal([]byte(v.Raw), &calls) != nil {
		return v.Raw
	}
	for _, call := range calls {
		var f map[string]json.RawMessage
		if json.Unmarshal(call["function"], &f) != nil {
			continue
		}
		if text := gjson.ParseBytes(f["arguments"]); text.Type == gjson.String && gjson.Valid(text.Str) {
			f["arguments"] = json.RawMessage(text.Str)
		}
		call["function"], _ = json.Marshal(f) // it was JSON
	}
	out, err := json.Marshal(calls)
	if err != nil {
		return v.Raw
	}
	return string(out)
}

const noParser = "requires --tool-call-parser to be set"

// choice checks what a chat says of calling tools. A server without a parser of
// calls takes none.
func (s *server) choice(v gjson.Result, tools bool) (parse bool, p *problem) {
	word := v.Str
	if v.IsObject() {
		word = "named"
	}
	switch {
	case !tools || word == "none":
		return false, nil
	case s.o.toolParser != "" && (s.o.autoTools || word == "named" || word == "required"):
		return true, nil
	case word == "named":
		return false, bad(`tool_choice=function "%s" %s`, v.Get("function.name").Str, noParser)
	case word == "required":
		return false, bad(`tool_choice="required" %s`, noParser)
	}
	return false, bad(`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`)
}
