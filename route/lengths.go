package route

import "math"

// Lengths estimate how long answers become, by who asks: by the agent's kind
// and the tool whose result came last, then by the kind alone, then by all,
// the few leaning on the many. Each is a histogram with bins of equal ratio
// that forgets. The zero value is ready and has seen nothing.
type Lengths struct {
	all   histogram
	kinds map[string]*histogram
	tools map[lengthKey]*histogram
}

type lengthKey struct{ kind, tool string }

// What is known before anything was seen: the means of recorded coding agents
// after a tool and after a person, and how many samples a group needs to weigh
// as much as the one above it.
const (
	lengthAfterTool = 439
	lengthAfterUser = 548
	lengthLean      = 20
	lengthGroups    = 256
)

// Observe takes the length of an answer in tokens. tool is "" after a person.
func (l *Lengths) Observe(kind, tool string, tokens int) {
	if tokens <= 0 {
		return
	}
	if l.kinds == nil {
		l.kinds, l.tools = map[string]*histogram{}, map[lengthKey]*histogram{}
	}
	l.all.add(float64(tokens))
	if h := group(l.kinds, kind); h != nil {
		h.add(float64(tokens))
	}
	if h := group(l.tools, lengthKey{kind, tool}); h != nil {
		h.add(float64(tokens))
	}
}

// group finds a histogram or makes one; nil is that there are too many.
func group[K comparable](of map[K]*histogram, key K) *histogram {
	h := of[key]
	if h == nil && len(of) < lengthGroups {
		h = new(histogram)
		of[key] = h
	}
	return h
}

// Mean is how many tokens the next answer is expected to have.
func (l *Lengths) Mean(kind, tool string) float64 {
	prior := float64(lengthAfterTool)
	if tool == "" {
		prior = lengthAfterUser
	}
	x := l.all.lean((*histogram).mean, prior)
	x = l.kinds[kind].lean((*histogram).mean, x)
	return l.tools[lengthKey{kind, tool}].lean((*histogram).mean, x)
}

// High is the length that nine of ten answers stay below.
func (l *Lengths) High(kind, tool string) float64 {
	x := l.all.lean((*histogram).high, 2*l.Mean(kind, tool))
	x = l.kinds[kind].lean((*histogram).high, x)
	return l.tools[lengthKey{kind, tool}].lean((*histogram).high, x)
}

// The bins of a histogram: of what ratio, and how many; the last is open. A
// sample counts half after so many others.
const (
	binRatio  = 1.25
	bins      = 64
	binHalves = 2000
)

// histogram counts positive numbers, the later ones more.
type histogram struct {
	n     [bins]float64
	sum   float64 // of the numbers themselves
	total float64
	unit  float64 // what the next counts; grows, so that the others fade
}

// bin is where a number belongs.
func bin(x float64) int {
	return min(max(int(math.Log(max(x, 1))/math.Log(binRatio)), 0), bins-1)
}

func (h *histogram) add(x float64) {
	if h.unit == 0 {
		h.unit = 1
	}
	h.n[bin(x)] += h.unit
	h.sum += x * h.unit
	h.total += h.unit
	if h.unit *= math.Exp2(1.0 / binHalves); h.unit > 1e100 {
		h.scale(1 / h.unit)
	}
}

// scale keeps the counts within what numbers can hold.
func (h *histogram) scale(by float64) {
	for i := range h.n {
		h.n[i] *= by
	}
	h.sum *= by
	h.total *= by
	h.unit *= by
}

func (h *histogram) mean() float64 { return h.sum / h.total }

// high is the upper end of the bin in which nine tenths are reached.
func (h *histogram) high() float64 {
	below := 0.0
	for i, n := range h.n {
		if below += n; below >= 0.9*h.total {
			return math.Pow(binRatio, float64(i+1))
		}
	}
	return math.Pow(binRatio, bins)
}

// lean is a figure of the histogram, drawn to what a larger group says as long
// as it has seen little itself.
func (h *histogram) lean(figure func(*histogram) float64, group float64) float64 {
	if h == nil || h.total == 0 {
		return group
	}
	weight := h.total / h.unit
	return (figure(h)*weight + group*lengthLean) / (weight + lengthLean)
}
