package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"sync"
	"time"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// visionLimit is how long the look at whether a server sees images can take.
const visionLimit = 30 * time.Second

// Sees finds out whether a server sees images: one makes its prompt longer. A
// server that refuses it, or leaves it out, does not. Of one that answers
// nothing what was promised of it is believed. ask starts the answer to a job
// whose Chat is set.
func Sees(ctx context.Context, promised bool, ask func(context.Context, turn.Job) (turn.Stream, error)) bool {
	ctx, cancel := context.WithTimeout(ctx, visionLimit)
	defer cancel()
	say := turn.Block{Kind: turn.Text, Text: "What is it?"}
	with, err := prompted(ctx, ask, say, picture64())
	if err != nil {
		var refused *turn.Refused
		return promised && !errors.As(err, &refused)
	}
	without, err := prompted(ctx, ask, say)
	return err == nil && with > without || err != nil && promised
}

// prompted is how many tokens the prompt of a message has, as the server says.
func prompted(ctx context.Context, ask func(context.Context, turn.Job) (turn.Stream, error), blocks ...turn.Block) (int, error) {
	zero := 0.0
	said, err := remote.Listen(ctx, 1, func(ctx context.Context) (turn.Stream, error) {
		return ask(ctx, turn.Job{
			ID: "dyn-probe-vision", MaxTokens: 1, Sampling: turn.Sampling{Temperature: &zero},
			Chat: &turn.Turn{Messages: []turn.Message{{Role: turn.User, Blocks: blocks}}},
		})
	})
	return said.Usage.Prompt, err
}

// picture64 is a picture of 64 by 64: the parts into which models cut pictures
// are smaller.
var picture64 = sync.OnceValue(func() turn.Block {
	img := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range 64 {
		img.SetGray(i, i, color.Gray{Y: 255})
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // memory takes all
	raw, _ := json.Marshal(map[string]any{"type": "input_image", "image_url": "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())})
	return turn.Block{Kind: turn.Image, Raw: raw}
})
