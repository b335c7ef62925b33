package llamacpp

import (
	"context"
	"strconv"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/turn"
)

// chat sends a turn to the server's own chat API, which reads reasoning and
// calls out of the answer itself. To the mirror it is a request with a prompt
// that nobody knows.
func (c *client) chat(ctx context.Context, j turn.Job) (turn.Stream, error) {
	cl := &claim{salt: j.Salt}
	if err := c.begin(cl); err != nil {
		return nil, err
	}
	a, err := c.http.Answer(ctx, "/v1/chat/completions", j.ID, chatBody(j, cl))
	if err != nil {
		c.undo(cl, err)
		return nil, err
	}
	s := &chatStream{Stream: openai.NewStream(ctx, a, func(status int, v gjson.Result) error { return meaning(status, v) })}
	s.settle = sync.OnceFunc(func() { c.end(cl, outcome{slot: -1, cached: -1}) })
	return s, nil
}

// chatBody is the request. Progress is told so that a cancel is seen before the
// first token.
func chatBody(j turn.Job, cl *claim) []byte {
	b := openai.Append([]byte{'{'}, j, true)
	sampling := j.Sampling
	sampling.Logprobs = false // another field here
	b = appendSampling(b, sampling)
	b = appendInt(b, "id_slot", int64(cl.pin))
	b = append(append(b, `,"cache_prompt":`...), strconv.FormatBool(!cl.fresh)...)
	return append(b, `,"return_progress":true}`...)
}

// chatStream tells the mirror of its end.
type chatStream struct {
	*openai.Stream
	settle func()
}

// Next returns the next delta.
func (s *chatStream) Next() (turn.Delta, error) {
	d, err := s.Stream.Next()
	if err != nil || d.End != nil {
		s.settle()
	}
	return d, err
}

// Close aborts what still runs.
func (s *chatStream) Close() error {
	defer s.settle()
	return s.Stream.Close()
}

// visible notes that the server takes chats, and whether it sees images.
func visible(props gjson.Result, caps *turn.Capabilities) {
	caps.Chat = true
	caps.Vision = props.Get("modalities.vision").Bool()
}
