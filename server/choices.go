package server

import (
	"maps"
	"slices"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// others are the flights of all answers but the first.
func (f *flight) others() []*flight {
	list := make([]*flight, 0, f.t.Answers()-1)
	for n := 1; n < f.t.Answers(); n++ {
		list = append(list, f.twin(n))
	}
	return list
}

// twin is the flight of another answer to the same turn. It shares the
// client, the way to the consumer and, if the turn has one, the prompt with
// the first; place, worker and record are its own. Answers come prompt by
// prompt. A seed is counted up for each answer to a prompt, so that they
// differ and still can be had again.
func (f *flight) twin(choice int) *flight {
	t := *f.t
	t.ID = newID()
	g := &flight{
		s: f.s, m: f.m, t: &t, a: f.a, ctx: f.ctx, cancel: f.cancel, watch: f.watch, who: f.who, choice: choice,
		rolling: f.rolling, exact: f.exact, thinks: f.thinks, tail: f.tail, head: f.head, chains: maps.Clone(f.chains), lead: f.lead, job: f.job, asked: f.asked, limit: f.limit,
		demand: f.demand, caller: f.caller, original: f.original, textOnly: f.textOnly, closing: f.closing, opening: f.opening, opened: f.opened, onlyOne: f.onlyOne, said: slices.Clone(f.said),
		seats: make(chan placement, 1), out: f.out, flown: make(chan struct{}), bares: f.bares,
	}
	each := max(t.N, 1)
	if len(f.bares) > 0 {
		g.takes(choice / each)
		g.chains = maps.Clone(g.chains)
		g.needs(f.demand)
	}
	g.again = choice%each > 0
	g.job.ID = t.ID
	if seed := f.job.Sampling.Seed; seed != nil {
		n := *seed + int64(choice%each)
		g.job.Sampling.Seed = &n
	}
	return g
}

// all is the flight and its twins, in the order of their answers.
func (f *flight) all() []*flight {
	if len(f.twins) == 0 {
		return []*flight{f}
	}
	return append([]*flight{f}, f.twins...)
}

// launch sends the flight and its twins on their way: at once, or one after
// the other for a key that may have so many turns at once, since a request has
// the place of one.
func (f *flight) launch() {
	all := f.all()
	for _, one := range all {
		one.prompt = one.job.Prompt.Cut(one.asked)
	}
	if f.flown == nil {
		return // document flies it
	}
	if len(all) > 1 && f.who != nil && f.who.Key().Concurrent > 0 {
		go func() {
			for _, one := range all {
				one.beside()
			}
		}()
		return
	}
	for _, one := range all {
		go one.beside()
	}
}

// abandon lands flights of which nothing was read.
func (f *flight) abandon(err error) {
	for _, one := range f.all() {
		one.land(nil, err)
	}
}

// answers reads the items of a flight and its twins: one analysis each. It
// belongs to the consuming goroutine.
type answers struct {
	f    *flight
	list []*analysis
	left int // answers that have not ended

	over bool
	err  error // why it ended early

	doc dialect.Document // a second, for the shelf, where a stream is to be kept; else nil
}

// answers makes the readers of a flight.
func (f *flight) answers(codec dialect.Codec) (*answers, error) {
	as := &answers{f: f}
	for _, one := range f.all() {
		an := &analysis{f: one, parser: one.parser(false), ids: one.opened}
		if one.t.Repeat && one.t.Sampling.Logprobs {
			an.probs = one.promptProbs()
		}
		as.list = append(as.list, an)
	}
	as.left = len(as.list)
	if f.t.Store {
		as.doc = codec.Document(f.t)
	}
	return as, nil
}

// events parses an item. The last event of each answer is Finish; one Fail is
// the last of all. The slice is good until the next call.
func (as *answers) events(it item) []turn.Event {
	if as.over {
		return nil
	}
	an := as.list[it.choice]
	es := an.events(it)
	if it.choice > 0 {
		for i := range es {
			es[i].Choice = it.choice
		}
	}
	if an.over {
		as.left--
		as.over, as.err = as.left == 0 || an.err != nil, an.err
		if an.err == nil { // before the client hears of the end: it may go on at once
			an.after = an.f.keep(an, an.f.said)
		}
	}
	as.keep(es)
	return es
}

// keep puts a response on the shelf when it is whole, before the client hears
// of its end: it may go on from it at once.
func (as *answers) keep(es []turn.Event) {
	if as.doc == nil {
		return
	}
	for _, e := range es {
		as.doc.Add(e)
	}
	if as.over && as.err == nil {
		if status, body := as.doc.JSON(); status == 200 {
			as.f.s.keepResponse(as.f.t, as.f.input, body)
		}
	}
}

// encode appends the wire form of what an item brings.
func (as *answers) encode(dst []byte, enc dialect.Encoder, it item) []byte {
	for _, e := range as.events(it) {
		dst = enc.Event(dst, e)
	}
	return dst
}

// land ends the flights and writes their records. Their context ends with the
// first, so the others must be over as well.
func (as *answers) land(err error) {
	for i := len(as.list) - 1; i >= 0; i-- {
		an := as.list[i]
		if an.err == nil {
			an.err = err
		}
		an.f.land(an, an.err)
	}
}

// crashed lands flights whose consumer panicked, and tells by err.
func (as *answers) crashed(err *error) {
	if p := recover(); p != nil {
		as.f.s.panicked(p)
		*err = errPanic
		as.land(errPanic)
	}
}
