package sglang

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// chunk is one event of an answer.
type chunk struct {
	text   string
	ids    []uint32
	likely []turn.Logprob

	prompt, output int // tokens; output counts all of the answer so far
	cached         int
	finish         string // "stop", "length", "abort"; "" while it goes on
	byText         string // the stop string met
	byID           int64  // the stop token met; -1 is none
	status         int    // with abort; 0 is none
	message        string
	fault          *fault // an error in place of a chunk
}

// fault is an error as the server words it.
type fault struct {
	status    int // 0 when it tells none
	message   string
	retryable bool
}

var errChunk = errors.New("a chunk that is no JSON object")

// readChunk reads one event's data. Absent and null mean the same.
func readChunk(data []byte) (chunk, error) {
	c := chunk{byID: -1}
	if !remote.Valid(data) {
		return c, errChunk
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return c, errChunk
	}
	if e := root.Get("error"); e.Exists() && e.Type != gjson.Null {
		c.fault = readFault(e)
		return c, nil
	}
	c.text = root.Get("text").Str
	var err error
	if c.ids, err = remote.IDs(root.Get("output_ids")); err != nil {
		return c, err
	}
	meta := root.Get("meta_info")
	c.prompt, c.output, c.cached = remote.Count(meta.Get("prompt_tokens")), remote.Count(meta.Get("completion_tokens")), remote.Count(meta.Get("cached_tokens"))
	c.likely = readLogprobs(meta)
	if f := meta.Get("finish_reason"); f.IsObject() {
		c.finish = f.Get("type").Str
		c.message = f.Get("message").Str
		c.status = int(f.Get("status_code").Int())
		switch m := f.Get("matched"); m.Type {
		case gjson.Number:
			c.byID = m.Int()
		case gjson.String:
			c.byText = m.Str
		}
	}
	return c, nil
}

func readFault(e gjson.Result) *fault {
	if e.Type == gjson.String {
		return &fault{message: e.Str}
	}
	f := &fault{message: e.Get("message").String(), retryable: e.Get("retryable").Bool()}
	f.status, _ = strconv.Atoi(e.Get("code").String()) // a number, or one in a string
	return f
}

// err says what an error means for the turn. The server checks a request when
// its stream has begun, and such an error may come without a code: begun tells
// that a token came before.
func (f *fault) err(begun bool) error {
	switch {
	case f.retryable:
		return fmt.Errorf("engine asks to try again: %s: %w", f.message, turn.ErrLost)
	case f.status == 0 && !begun:
		return remote.Fault(400, f.message)
	}
	return remote.Fault(f.status, f.message)
}

// readLogprobs reads output_token_logprobs and output_top_logprobs: of each
// token [log probability, id, text or null], and of its alternatives a list of
// such.
func readLogprobs(meta gjson.Result) (all []turn.Logprob) {
	for _, v := range list(meta.Get("output_token_logprobs")) {
		all = append(all, readLogprob(v))
	}
	for i, tops := range list(meta.Get("output_top_logprobs")) {
		for _, v := range list(tops) {
			if i < len(all) {
				all[i].Top = append(all[i].Top, readLogprob(v))
			}
		}
	}
	return all
}

// list is what an array holds; nil when it is none.
func list(v gjson.Result) []gjson.Result {
	if !v.IsArray() {
		return nil
	}
	return v.Array()
}

func readLogprob(v gjson.Result) turn.Logprob {
	p := turn.Logprob{Token: v.Get("2").Str, Value: v.Get("0").Num}
	if p.Token == "" {
		p.Token = "token_id:" + v.Get("1").String()
	}
	return p
}
