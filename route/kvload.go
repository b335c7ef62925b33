package route

// kvLoad is llm-d's scheduler with the weights of its precise-prefix example,
// 3 : 2 : 2. Three scores of 0 to 1 are weighed and added, each relative to
// the other workers but the second:
//
//	prefix  tokens held, those in the host tier at 0.8, between the least (0)
//	        and the most (1) of all that hold any; 1 where only one does
//	kv      share of the KV cache that no running turn uses
//	queue   turns that wait for their first token, the fewest 1, the most 0
//
// What is lost is size: a hit of 100 tokens weighs like one of 100,000, and
// where one worker alone has the system prompt that all share, it takes every
// turn until its KV cache is fuller than the others' by a half. Cost
// is what is missing to the highest sum. Sources: llm-d-inference-scheduler,
// preciseprefixcache; gateway-api-inference-extension, kv-cache-utilization
// and queue scorers.
type kvLoad struct {
	prefix, kv, queue float64
}

var kvLoadKnobs = Knobs{"prefix": 3, "kv": 2, "queue": 2}

func newKVLoad(k Knobs) Strategy { return kvLoad{k["prefix"], k["kv"], k["queue"]} }

// hostHit is what a block in the host tier is worth, one on the GPU being 1.
const hostHit = 0.8

// Pick is of Strategy.
func (s kvLoad) Pick(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	var hits, queues span
	for i := range cs {
		if d.Parts[i].Out != "" {
			continue
		}
		queues.take(unstarted(&cs[i]))
		if h := hit(&d.Parts[i], &cs[i]); h > 0 {
			hits.take(h)
		}
	}
	for i := range cs {
		p, prefix := &d.Parts[i], 0.0
		if h := hit(p, &cs[i]); h > 0 {
			prefix = hits.place(h, 1)
		}
		kv, queue := 1-used(&cs[i]), 1-queues.place(unstarted(&cs[i]), 0)
		p.term("prefix", prefix)
		p.term("kv", kv)
		p.term("queue", queue)
		p.Cost = s.prefix*(1-prefix) + s.kv*(1-kv) + s.queue*(1-queue)
	}
	d.least(&n, Cheapest)
	return d
}

// hit is the tokens that a worker holds, those in its host tier weighed.
func hit(p *Part, c *Candidate) float64 {
	return float64(p.Overlap) + hostHit*float64(max(c.Lower[0], 0))
}

// unstarted is how many turns there have no first token yet.
func unstarted(c *Candidate) float64 {
	return max(float64(max(c.InFlight, 0))-float64(max(c.Decoding, 0)), 0)
}

// used is the share of a worker's KV cache that running turns use.
func used(c *Candidate) float64 {
	if c.KVTokens <= 0 {
		return 0
	}
	return min(max(float64(c.Active)/float64(c.KVTokens), 0), 1)
}

// span is the least and the most of some figures. The zero value is of none.
type span struct {
	least, most float64
	some        bool
}

func (s *span) take(x float64) {
	if !s.some {
		*s = span{x, x, true}
	}
	s.least, s.most = min(s.least, x), max(s.most, x)
}

// place is where a figure lies between least (0) and most (1); alike is the
// answer where there is no difference.
func (s *span) place(x, alike float64) float64 {
	if s.most <= s.least {
		return alike
	}
	return min(max((x-s.least)/(s.most-s.least), 0), 1)
}
