package sim

import (
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/sim/core"
	"github.com/agentinfer/dyn/parsers"
)

// chatOnly are the fields of a chat that completions spell otherwise.
var chatOnly = map[string]func(c *completion, f *fields, v gjson.Result){
	"prompt": func(*completion, *fields, gjson.Result) {},
	"max_completion_tokens": func(c *completion, f *fields, v gjson.Result) {
		c.maxTokens = f.integer("max_completion_tokens", v, allThatFits)
	},
	"logprobs":     refuse("logprobs", "false"),
	"top_logprobs": refuse("top_logprobs", "0"),
}

// readChat reads a body that is a JSON object, but for its conversation.
func readChat(body gjson.Result) (*completion, *problem) {
	c := &completion{maxTokens: allThatFits, temperature: 1, topP: 1, skip: true}
	var f fields
	body.ForEach(func(key, v gjson.Result) bool {
		read := chatOnly[key.Str]
		if read == nil {
			read = completionFields[key.Str]
		}
		if read != nil {
			read(c, &f, v)
		}
		return true
	})
	return c, f.problem()
}

// chats is POST /v1/chat/completions.
func (s *server) chats(w http.ResponseWriter, r *http.Request) {
	c, d, ask, p := s.chat(w, r)
	if p != nil {
		p.write(w)
		return
	}
	s.answer(w, r, ask, d, c.stream)
}

// chat reads a request.
func (s *server) chat(w http.ResponseWriter, r *http.Request) (*completion, *chatDress, *core.Ask, *problem) {
	raw, p := readBody(w, r)
	if p != nil {
		return nil, nil, nil, p
	}
	body := gjson.ParseBytes(raw)
	c, p := readChat(body)
	if p != nil {
		return nil, nil, nil, p
	}
	talk, p := s.converse(body)
	if p != nil {
		return nil, nil, nil, p
	}
	parse, p := s.choice(body.Get("tool_choice"), talk.tools)
	if p != nil {
		return nil, nil, nil, p
	}
	c.skip = c.skip && !s.chatMarks
	c.ids = talk.ids[:min(len(talk.ids), s.context+1)] // no more are made of a text that is too long
	ask, p := s.ask(c, r.Header)
	if p != nil {
		return nil, nil, nil, p
	}
	format := s.chatFormat
	if !parse {
		format = format.Mute()
	}
	reader := format.Open(parsers.Options{Tail: talk.tail, Offered: talk.offer})
	id := r.Header.Get("X-Request-Id")
	if id == "" {
		id = randomID(8)
	}
	return c, &chatDress{s: s, c: c, prompt: len(ask.Prompt), id: "chatcmpl-" + id, reader: reader, began: time.Now()}, ask, nil
}
