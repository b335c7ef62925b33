package route

import "math"

// Rates is the timing model of one worker, in milliseconds. A step that
// computes chunks of p prompt tokens, each with ctx tokens before it, beside
// n turns that decode takes
//
//	Step + Token·Σp + Square·Σp(ctx+p/2) + Context·Σctx(decoding) + Seq·n
//
// which is linear in the weights, the attention of the prompt and the KV cache
// that decoding reads (Vidur, arXiv 2405.05465, has the same terms).
type Rates struct {
	Step    float64    // a step by itself
	Token   float64    // a prompt token
	Square  float64    // a prompt token for each token before it
	Context float64    // a KV token that a decoding turn reads
	Seq     float64    // a decoding turn
	Reload  [3]float64 // a token from host, disk or remote tier
}

// DefaultRates stand for a worker of which nothing is known: a dense model of
// 32 billion parameters on two H100. Rather too dear a prefill than a decode:
// of two wrong constants, ones that make the prefill look cheap lose most.
var DefaultRates = Rates{Step: 7, Token: 0.09, Square: 1.5e-6, Context: 2.8e-5, Reload: [3]float64{0.0052, 0.037, 0.09}}

// known is the rates, or the default where there are none, or some of them is
// no number.
func (r Rates) known() Rates {
	sum := r.Step + r.Token + r.Square + r.Context + r.Seq + r.Reload[0] + r.Reload[1] + r.Reload[2]
	if r.Token <= 0 && r.Context <= 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return DefaultRates
	}
	return r
}

// Prefill is how long n prompt tokens behind ctx others take.
func (r Rates) Prefill(n, ctx float64) float64 {
	return r.Token*n + r.Square*n*(ctx+n/2)
}

// Decode is how long a step takes in which n turns with ctx tokens together
// decode.
func (r Rates) Decode(n, ctx float64) float64 {
	return r.Step + r.Seq*n + r.Context*ctx
}
