package route

import (
	"math"
	"time"
)

// terms are the two sums of prefill in Rates.
type terms struct {
	tokens float64 // Σp
	square float64 // Σp(ctx+p/2)
}

// workOf is what has to be computed of a prompt with so many tokens there.
func workOf(prompt, there int) terms {
	n := float64(max(prompt-there, 1))
	return terms{n, n * (float64(there) + n/2)}
}

func (w *terms) add(o terms) {
	w.tokens += o.tokens
	w.square += o.square
}

func (w *terms) take(o terms) {
	w.tokens -= o.tokens
	w.square -= o.square
}

// prefill is how long the work takes, in ms.
func (w terms) prefill(r Rates) float64 { return r.Token*w.tokens + r.Square*w.square }

// sample is a stretch of time in which a worker computed prompts.
type sample struct {
	from, to time.Time
	work     terms
	beside   float64 // ms that went elsewhere meanwhile
	learnt   bool
}

// take adds a turn whose prompt is computed.
func (s *sample) take(now time.Time, t *sent, beside float64) {
	s.work.add(t.work)
	s.beside += beside
	s.to = now
}

// enough reports whether a sample says more than its noise.
func (s *sample) enough() bool { return s.work.tokens >= 64 }

// clock measures a worker's rates: how much slower each of the four main terms
// is than told beforehand.
type clock struct {
	prefill fit // Token, Square
	decode  fit // Step and Seq, Context
}

// rates are the account's rates as measured so far.
func (a *account) rates() Rates {
	r := a.limits.Rates
	token, square := a.clock.prefill.factors()
	step, context := a.clock.decode.factors()
	r.Token *= token
	r.Square *= square
	r.Step *= step
	r.Seq *= step
	r.Context *= context
	return r
}

// learnPrefill takes a turn's sample of prefill. cached is what its worker
// said; what the books took to be there may have been wrong.
func (a *account) learnPrefill(t *sent, cached int) {
	s := t.sample
	if s == nil || s.learnt || t.prefill != a || a.crammed(s.from) {
		return
	}
	if cached >= 0 {
		s.work.take(t.work)
		s.work.add(workOf(t.prompt, max(min(cached, t.prompt), 0)))
	}
	if s.learnt = s.enough(); !s.learnt {
		return
	}
	r := a.limits.Rates
	whole := millis(s.to.Sub(s.from))
	a.clock.prefill.learn(r.Token*s.work.tokens, r.Square*s.work.square, max(whole-s.beside, whole/4))
}

// enoughSteps is how many tokens an answer has to have for its mean time
// between two of them to say something.
const enoughSteps = 8

// learnDecode takes the time that a turn's answer took.
func (a *account) learnDecode(now time.Time, t *sent) {
	steps, whole := float64(t.tokens-1), millis(now.Sub(t.first))
	if steps < enoughSteps || whole <= 0 || a.crammed(t.first) {
		return
	}
	a.advance(now)
	stood := a.totals.prefilled - t.since.prefilled
	if stood > whole/2 {
		return
	}
	turns := (a.totals.turns - t.since.turns) / whole
	tokens := (a.totals.tokens - t.since.tokens) / whole
	r := a.limits.Rates
	a.clock.decode.learn(r.Step+r.Seq*turns, r.Context*tokens, (whole-stood)/steps)
}

// How the fits learn: what a sample is worth after each further one, how
// strongly both factors are held together while the samples do not tell them
// apart, how far one sample may be off, and how much of Off the last one is.
const (
	fitKeep  = 0.95
	fitRidge = 0.3
	fitClip  = 4
	fitOff   = 0.25
	fitFirst = 3 // samples before anything is said
)

// fit finds by what factors two predicted terms have to be multiplied to give
// what is measured: least squares of the relative error, later samples
// counting more, and both factors drawn to the common ratio, so that a term
// that never varies goes along with the other. The zero value says 1 and 1.
type fit struct {
	xx, xy, yy float64 // of the normal equations
	xm, ym     float64
	ratio      float64 // log of measured over predicted beforehand
	off        float64 // log of measured over predicted now
	n          int
	x, y       float64 // the factors; 0 is 1
}

// factors are what the terms have to be multiplied by.
func (f *fit) factors() (x, y float64) {
	if f.x == 0 {
		return 1, 1
	}
	return f.x, f.y
}

// learn takes a sample: the two terms as predicted beforehand, and the time.
func (f *fit) learn(x, y, measured float64) {
	if !(x >= 0 && y >= 0 && plausible(x+y) && plausible(measured)) {
		return
	}
	fx, fy := f.factors()
	now := fx*x + fy*y
	f.n++
	off := min(max(math.Log(measured/now), -3), 3)
	f.off += (off - f.off) * max(fitOff, 1/float64(f.n))
	measured = min(max(measured, now/fitClip), now*fitClip)
	f.ratio += (math.Log(measured/(x+y)) - f.ratio) * max(1-fitKeep, 1/float64(f.n))
	u, v, r := x/(x+y), y/(x+y), measured/(x+y)
	f.xx, f.xy, f.yy = f.xx*fitKeep+u*u, f.xy*fitKeep+u*v, f.yy*fitKeep+v*v
	f.xm, f.ym = f.xm*fitKeep+u*r, f.ym*fitKeep+v*r
	f.solve()
}

// plausible reports whether a time in ms can be one.
func plausible(ms float64) bool { return ms > 1e-6 && ms < 1e9 }

// solve finds the factors.
func (f *fit) solve() {
	common := math.Exp(f.ratio)
	a, b, c := f.xx+fitRidge, f.xy, f.yy+fitRidge
	p, q := f.xm+fitRidge*common, f.ym+fitRidge*common
	det := a*c - b*b
	if !(det > 0) {
		f.x, f.y = common, common
		return
	}
	bound := func(x float64) float64 { return min(max(x, common/10), common*10) }
	f.x, f.y = bound((p*c-q*b)/det), bound((q*a-p*b)/det)
}

// offBy is measured over predicted of late; 0 before a few samples.
func (f *fit) offBy() float64 {
	if f.n < fitFirst {
		return 0
	}
	return math.Exp(f.off)
}

// off is by how much the worker's predictions are off: of prefill or of
// decode, whichever is worse.
func (c *clock) off() float64 {
	p, d := c.prefill.offBy(), c.decode.offBy()
	if p == 0 || d != 0 && math.Abs(math.Log(d)) > math.Abs(math.Log(p)) {
		return d
	}
	return p
}
