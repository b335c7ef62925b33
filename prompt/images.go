package prompt

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// DataURL returns the picture of an image block as a data URL, in whichever
// dialect the client wrote it. It is false for an image that lies elsewhere,
// behind a URL or in a store of files: nobody fetches what a client names,
// since it may name what only this machine can reach.
func DataURL(b *turn.Block) (string, bool) {
	if b.Kind != turn.Image {
		return "", false
	}
	v := gjson.ParseBytes(b.Raw)
	url := v.Get("image_url") // responses
	if url.IsObject() {       // chat
		url = url.Get("url")
	}
	if s := v.Get("source"); s.Get("type").Str == "base64" { // messages
		kind, data := s.Get("media_type").Str, s.Get("data").Str
		return "data:" + kind + ";base64," + data, strings.HasPrefix(kind, "image/") && data != ""
	}
	kind, data, _ := strings.Cut(url.Str, ",")
	return url.Str, strings.HasPrefix(kind, "data:image/") && strings.HasSuffix(kind, ";base64") && data != ""
}

// Seen returns t with a text in place of each image that DataURL gives: the
// hash of its content, the same for the same picture in any dialect. So a
// prompt that is not the engine's own, which shows the picture itself, begins
// like another as far as the two conversations do. t stays as it is, and is
// what is returned when it has no such image.
func Seen(t *turn.Turn) (seen *turn.Turn, images int) {
	seen = t
	for i := range t.Messages {
		blocks := t.Messages[i].Blocks
		has := slices.ContainsFunc(blocks, func(b turn.Block) bool { return b.Kind == turn.Image })
		if !has {
			continue
		}
		own := slices.Clone(blocks)
		n := 0
		for j := range own {
			if url, ok := DataURL(&own[j]); ok {
				own[j] = turn.Block{Kind: turn.Text, Text: hashText(url), Lease: own[j].Lease}
				n++
			}
		}
		if n == 0 {
			continue
		}
		if images == 0 {
			c := *t
			c.Messages = slices.Clone(t.Messages)
			seen = &c
		}
		images += n
		seen.Messages[i] = turn.Message{Role: t.Messages[i].Role, Blocks: own}
	}
	return seen, images
}

// hashText stands for a picture.
func hashText(url string) string {
	_, data, _ := strings.Cut(url, ",")
	sum := xxh3.HashString128(data).Bytes()
	return "[image " + hex.EncodeToString(sum[:]) + "]"
}
