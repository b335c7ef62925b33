package bpe

import (
	"bufio"
	"errors"
	"io"
)

// GGUFChat is what the metadata of a GGUF file say of conversations; "" is
// unsaid.
type GGUFChat struct {
	Template     string // tokenizer.chat_template
	ToolTemplate string // tokenizer.chat_template.tool_use
	BOS, EOS     string // texts of these tokens
}

// ReadGGUFChat reads the part of a GGUF file before the tensors.
func ReadGGUFChat(r io.Reader) (c GGUFChat, err error) {
	g := &gguf{r: bufio.NewReaderSize(r, 1<<16), left: maxFile}
	if err := g.begin(); err != nil {
		return c, err
	}
	var tokens []string
	bos, eos := -1.0, -1.0
	for n := g.number(8); n > 0 && g.err == nil; n-- {
		key, kind := g.text(), uint32(g.number(4))
		switch key {
		case "tokenizer.chat_template":
			c.Template = g.textOf(kind)
		case "tokenizer.chat_template.tool_use":
			c.ToolTemplate = g.textOf(kind)
		case "tokenizer.ggml.tokens":
			tokens = g.texts(kind)
		case "tokenizer.ggml.bos_token_id":
			bos = g.value(kind)
		case "tokenizer.ggml.eos_token_id":
			eos = g.value(kind)
		default:
			g.skip(kind)
		}
	}
	text := func(id float64) string {
		if id < 0 || id >= float64(len(tokens)) {
			return ""
		}
		return tokens[int(id)]
	}
	c.BOS, c.EOS = text(bos), text(eos)
	return c, g.err
}

// begin reads what stands before the metadata.
func (g *gguf) begin() error {
	if magic := string(g.bytes(4)); magic != "GGUF" && g.err == nil {
		return errors.New("no GGUF file")
	}
	if version := g.number(4); g.err == nil && (version < 2 || version > 3) {
		return unsupported("GGUF version %d", version)
	}
	g.number(8) // tensors
	return g.err
}
