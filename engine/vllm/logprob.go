package vllm

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// leastLogprob is what the server tells in place of minus infinity.
const leastLogprob = -9999

// maxTop bounds the alternatives that are read of one token.
const maxTop = 1024

// readLogprobs reads the logprobs of a completion: three arrays side by side,
// tokens, token_logprobs and top_logprobs; of the last each element is an
// object of texts and values, the chosen token among them.
func readLogprobs(c *cursor) []turn.Logprob {
	if !c.enter('{') {
		c.skip()
		return nil
	}
	var all []turn.Logprob
	at := func(i int) *turn.Logprob {
		if i == len(all) {
			all = append(all, turn.Logprob{Value: leastLogprob})
		}
		return &all[i]
	}
	each := func(read func(p *turn.Logprob)) {
		if !c.enter('[') {
			c.skip()
			return
		}
		for i := 0; c.more(']'); i++ {
			read(at(i))
		}
	}
	for c.more('}') {
		switch string(c.key()) {
		case "tokens":
			each(func(p *turn.Logprob) { p.Token = c.text() })
		case "token_logprobs":
			each(func(p *turn.Logprob) { p.Value = c.logprob() })
		case "top_logprobs":
			each(func(p *turn.Logprob) { p.Top = readTop(c) })
		default:
			c.skip()
		}
	}
	return all
}

// readTop reads the alternatives of one token, the likeliest first.
func readTop(c *cursor) (top []turn.Logprob) {
	if !c.enter('{') {
		c.skip()
		return nil
	}
	for c.more('}') {
		token := c.text()
		if c.space() != ':' {
			c.bad = true
			return nil
		}
		c.i++
		p := turn.Logprob{Token: token, Value: c.logprob()}
		if len(top) < maxTop {
			top = append(top, p)
		}
	}
	slices.SortStableFunc(top, func(a, b turn.Logprob) int { return cmp.Compare(b.Value, a.Value) })
	return top
}

// logprob reads a value; what is none is the least.
func (c *cursor) logprob() float64 {
	if b := c.space(); b == '"' || b == '{' || b == '[' {
		c.skip()
		return leastLogprob
	}
	x, err := strconv.ParseFloat(string(c.word()), 64)
	if err != nil || x != x || x < leastLogprob {
		return leastLogprob
	}
	return x
}

// best keeps of each token as many alternatives as were asked for: the server
// adds the chosen one where it is none of them.
func best(all []turn.Logprob, top int) []turn.Logprob {
	for i := range all {
		all[i].Top = all[i].Top[:min(len(all[i].Top), max(top, 0))]
		if top <= 0 {
			all[i].Top = nil
		}
	}
	return all
}
