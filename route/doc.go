// Package route decides which worker takes a turn, and in which order turns
// wait when none may. It is pure: values in, a value out with its reasons; no
// clock, no state of workers, no effect. The server acts on what it says.
//
// The nouns: a Need is what a turn asks for. A Candidate is a worker as it is
// now. A Decision names a worker, or says why there is none, and keeps a Part
// for every candidate: what it would cost, or why it was left out. A Strategy
// is a rule that picks; New makes one by name, Place asks it, twice where
// prompts and answers have workers of their own. The Queue holds the turns
// that wait.
//
// The rule "dyn", the default, counts milliseconds: the turn's own prefill and
// reload, the backlog before it, how much the turns there and a far slower worker
// slow it down, how long it stalls them, and a price of memory: what it will take
// to compute again what it displaces, nothing while there is room. Where what
// workers take is more than three times off what was predicted it goes by
// "lmetric". Equal costs go to fewer turns in flight, then to an order of the
// names that differs from turn to turn: a session stays where its blocks are and
// for no other reason.
//
// The rule "kv" has no parameters and counts no time: the turn goes where
//
//	(pending + new) × (in flight + 1)
//
// is least. New are the prompt tokens that the worker would have to compute,
// at least 1, since an engine always computes the last one. Pending are the
// uncached prompt tokens of turns sent there that have no first token yet; in
// flight are the turns sent there that have not ended. It is LMetric's product,
// new tokens × batch (arXiv 2603.15202), with the prefill that already waits
// added to the tokens.
//
// Books keep what a router knows by its own doing: what is in flight, where
// sessions are at home, how long blocks last, how fast each worker is. The
// Gate holds turns back that would push out what others come back for; unless
// told otherwise only where a cache thrashes. Lengths are those of answers.
//
// The others are there to be compared with, and for who wants them: "lmetric",
// "dynamo", "kv-load" and "sglang" are the published rules of other routers,
// "sticky" keeps sessions where they are, "thompson" learns, "p2c",
// "least-loaded", "round-robin" and "random" look at no cache. Each is a file
// that says what it compares; a decision's parts say the figures. Rules draw
// lots by the turn and Need.Seed: the same input, the same decision. Only
// "sglang" and "thompson" remember, see Learner; "thompson" is JSON when it
// should outlive the process.
//
// All rules leave out a worker whose slots are taken; one whose context or KV
// cache the prompt does not fit, ever; one without the turn's adapter or that it
// is not pinned to; one that the server ruled out; and one that is stuck, while
// another could take the turn, now or later. When all are full, see Full, the
// turn waits: below that threshold never. None that it fits: it never will.
//
// Order of the queue: higher band first, always; inside a band the tenant that
// had fewest turns while others waited; of a tenant the effective arrival
// (turn.Turn.Effective), put back by up to ten seconds for sessions that had
// much of late; then the true arrival, then first in. Turns that cannot go though
// others can let those by and keep their places, see Queue.Pass and Item.Held.
//
// Cost: a decision is linear in candidates, a few µs for eight, with one
// allocation; a queue's step is logarithmic in turns and linear in tenants.
package route
