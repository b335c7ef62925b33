package dialect

import (
	"math"
	"strconv"

	"github.com/agentinfer/dyn/turn"
)

// leastLogprob stands for a token that cannot be: JSON has no infinity.
const leastLogprob = -9999

// appendLogprobs appends a list of log probabilities, without its brackets, as
// the chat and responses APIs spell them.
func appendLogprobs(dst []byte, ps []turn.Logprob) []byte {
	for i := range ps {
		dst = appendLogprob(comma(dst, i), &ps[i])
		dst = append(dst, `,"top_logprobs":[`...)
		for j := range ps[i].Top {
			dst = append(appendLogprob(comma(dst, j), &ps[i].Top[j]), '}')
		}
		dst = append(dst, "]}"...)
	}
	return dst
}

// appendLogprob appends one, but for its closing brace.
func appendLogprob(dst []byte, p *turn.Logprob) []byte {
	value := p.Value
	if math.IsNaN(value) || value < leastLogprob {
		value = leastLogprob
	}
	dst = appendString(append(dst, `{"token":`...), p.Token)
	dst = strconv.AppendFloat(append(dst, `,"logprob":`...), min(value, 0), 'g', -1, 64)
	dst = append(dst, `,"bytes":[`...)
	for i := range len(p.Token) {
		dst = appendInt(comma(dst, i), int64(p.Token[i]))
	}
	return append(dst, ']')
}
