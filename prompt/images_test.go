package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func image(raw string) turn.Block { return turn.Block{Kind: turn.Image, Raw: json.RawMessage(raw)} }

func TestDataURL(t *testing.T) {
	const want = "data:image/png;base64,AAAA"
	for raw, ok := range map[string]bool{
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`:                    true,
		`{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`:                          true,
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`:       true,
		`{"type":"image_url","image_url":{"url":"http://169.254.169.254/latest"}}`:                 false,
		`{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}}`:                 false,
		`{"type":"input_image","file_id":"file-1"}`:                                                false,
		`{"type":"image_url","image_url":{"url":"data:text/html;base64,AAAA"}}`:                    false,
		`{"type":"image_url","image_url":{"url":"data:image/png,raw"}}`:                            false,
		`{"type":"image","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`: false,
		`{"type":"image","source":{"type":"base64","media_type":"image/png"}}`:                     false,
		`5`: false,
		``:  false,
	} {
		b := image(raw)
		if got, is := DataURL(&b); is != ok || ok && got != want {
			t.Errorf("%s: %q, %v", raw, got, is)
		}
	}
	if _, ok := DataURL(&turn.Block{Kind: turn.Document, Raw: json.RawMessage(`{"image_url":"data:image/png;base64,AAAA"}`)}); ok {
		t.Error("a document is an image")
	}
}

// TestSeen: the same picture is the same text in every dialect, another one is
// not, and the turn itself is left alone.
func TestSeen(t *testing.T) {
	ask := func(raw string) (*turn.Turn, string, int) {
		tr := &turn.Turn{Messages: []turn.Message{
			{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "what is it?"}, image(raw)}},
			{Role: turn.Assistant, Blocks: []turn.Block{{Kind: turn.Text, Text: "a cat"}}},
		}}
		seen, n := Seen(tr)
		if tr.Messages[0].Blocks[1].Kind != turn.Image || len(seen.Messages) != 2 {
			t.Fatal("the turn was written")
		}
		return tr, seen.Messages[0].Blocks[1].Text, n
	}
	_, chat, n := ask(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`)
	_, messages, _ := ask(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`)
	_, other, _ := ask(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAB"}}`)
	if n != 1 || chat != messages || chat == other || !strings.HasPrefix(chat, "[image ") {
		t.Errorf("%d: %q, %q and %q", n, chat, messages, other)
	}
	tr, text, n := ask(`{"type":"image","source":{"type":"url","url":"https://x.example"}}`)
	if seen, _ := Seen(tr); n != 0 || text != "" || seen != tr {
		t.Errorf("an image elsewhere is %q", text)
	}
}
