package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
)

// sessions is how many conversations live when the daemon is killed, half of
// them at each worker. Their first prompts are of some 150 tokens.
const (
	sessions     = 50
	sessionWords = 100
)

// daemonKilled kills the daemon under load; the next takes the engines over,
// with what they hold of all conversations.
func daemonKilled(ctx context.Context, l *lab, s *sheet) error {
	var talks []*talk
	var names []string
	for i := range sessions {
		t := l.talk("live", sessionWords).at(fmt.Sprint("w", i%2)).say("Say hello.")
		talks, names = append(talks, t), append(names, t.session)
	}
	before, err := l.workers(ctx)
	if err != nil {
		return err
	}
	if err := together(ctx, talks, slots(before)); err != nil {
		return err
	}
	if _, err := l.ledger(ctx, names, 1); err != nil { // it may lose a second
		return err
	}
	known, ready, err := l.crash(ctx, before)
	if err != nil {
		return err
	}
	const what = "`kill -9` of the daemon under load, then `dyn up`: the same engines within 2 s"
	if known <= 0 {
		s.check(l.k.name, what, false, "they are not the same; ready after %d ms", ready.Milliseconds())
		return nil
	}
	s.within(l.k.name, what, known, 2*time.Second, "known again after %d ms, ready after %d ms", known.Milliseconds(), ready.Milliseconds())
	for _, t := range talks {
		t.anywhere()
		t.say("And again.")
	}
	if err := together(ctx, talks, 1); err != nil { // beside others the router may rather compute so few tokens elsewhere than wait
		return err
	}
	rows, err := l.ledger(ctx, names, 2)
	if err != nil {
		return err
	}
	again(l, s, talks, rows)
	return nil
}

// adoptedSalts kills the daemon of engines that several keys have used. What
// came last is found again, although the engine itself may not keep keys apart.
func adoptedSalts(ctx context.Context, l *lab, s *sheet) error {
	t := l.talk("keyless", sessionWords).at("w0").say("Say hello.")
	if _, err := t.answer(ctx, 8); err != nil {
		return err
	}
	if _, err := l.turns(ctx, t.session, 1); err != nil {
		return err
	}
	before, err := l.workers(ctx)
	if err != nil {
		return err
	}
	if known, ready, err := l.crash(ctx, before); err != nil || known <= 0 {
		return errors.Join(err, fmt.Errorf("the engines are not the same, ready after %v", ready))
	}
	t.anywhere()
	if _, err := t.say("And again.").answer(ctx, 8); err != nil {
		return err
	}
	own, err := l.turns(ctx, t.session, 2)
	if err != nil {
		return err
	}
	twice := max(own[0].Prompt+own[0].Output-own[1].Cached, 0)
	s.check(l.k.name, "salt: after several keys and a `kill -9` of the daemon, the last conversation goes on where it was", twice <= l.k.block && own[1].Worker == "w0",
		"%d of %d tokens cached on %s, %d computed again", own[1].Cached, own[1].Prompt, own[1].Worker, twice)
	return nil
}

// crash kills the daemon while a turn runs and starts the next. It tells when
// that one knew the engines again, 0 for never, and when they were ready.
func (l *lab) crash(ctx context.Context, before []snapshot.Worker) (known, ready time.Duration, err error) {
	var doc struct{ Daemon snapshot.Daemon }
	if err := l.json(ctx, &doc, "ps"); err != nil {
		return 0, 0, err
	}
	busy := l.talk("cut", 20).say("Tell a long story.")
	busy.full = true
	var once sync.Once
	_, err = busy.stream(ctx, 400, func(string) { once.Do(func() { syscall.Kill(doc.Daemon.PID, syscall.SIGKILL) }) })
	if err == nil {
		return 0, 0, errors.New("the turn that was running ended as if nothing had happened")
	}
	seen := make(chan time.Duration, 1)
	go func() { seen <- l.adopted(ctx, before) }()
	ready, err = l.up(ctx)
	if err != nil {
		return 0, 0, err
	}
	return <-seen, ready, nil
}

// adopted waits until a daemon shows workers as its own that another started,
// and returns how long that took; 0 is that it never did.
func (l *lab) adopted(ctx context.Context, before []snapshot.Worker) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	began := time.Now()
	for {
		after, err := l.workers(ctx) // an error while no daemon runs
		same := err == nil && len(after) == len(before)
		for i := range after {
			same = same && after[i].PID == before[i].PID && after[i].Adopted
		}
		if same {
			return time.Since(began)
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return 0
		}
	}
}

// slots is how many turns all workers run at once.
func slots(ws []snapshot.Worker) (n int) {
	for _, w := range ws {
		n += w.Slots
	}
	return max(n, 1)
}

// together has conversations answered, so many at once, in their order.
func together(ctx context.Context, talks []*talk, at int) error {
	next := make(chan *talk)
	failed := make(chan error, at)
	for range at {
		go func() {
			var err error
			for t := range next {
				if err == nil {
					_, err = t.answer(ctx, 8)
				}
			}
			failed <- err
		}()
	}
	for _, t := range talks {
		next <- t
	}
	close(next)
	var all []error
	for range at {
		all = append(all, <-failed)
	}
	return errors.Join(all...)
}

// again checks that the second turns of conversations went to the worker of
// the first, and computed no more of it again than what does not fill a block.
func again(l *lab, s *sheet, talks []*talk, rows map[string][]ledger.Turn) {
	on := map[string]int{}
	var anew, cached, prompt, most, over int
	var cold []string
	for _, t := range talks {
		first, next := rows[t.session][0], rows[t.session][1]
		if next.Worker != first.Worker {
			cold = append(cold, fmt.Sprintf("%s went from %s to %s", t.session, first.Worker, next.Worker))
		}
		on[next.Worker]++
		twice := max(first.Prompt+first.Output-next.Cached, 0) // the last token of an answer is never cached
		if twice > l.k.block {
			over++
			cold = append(cold, fmt.Sprintf("%s: %d of %d", t.session, next.Cached, first.Prompt+first.Output))
		}
		anew, cached, prompt, most = anew+twice, cached+next.Cached, prompt+next.Prompt, max(most, twice)
	}
	var where []string
	for _, name := range slices.Sorted(maps.Keys(on)) {
		where = append(where, fmt.Sprintf("%d on %s", on[name], name))
	}
	seen := fmt.Sprintf("%d conversations, %s: %d of the %d tokens of their next prompts cached; computed again %d, at most %d in one of them (%.2f blocks of %d), more than a block in %d",
		len(talks), strings.Join(where, ", "), cached, prompt, anew, most, float64(most)/float64(l.k.block), l.k.block, over)
	if len(cold) > 0 {
		seen += "; " + strings.Join(cold[:min(len(cold), 5)], ", ")
	}
	s.check(l.k.name, fmt.Sprintf("… %d live conversations go on where they were, with at most a block each computed again", len(talks)), len(cold) == 0, "%s", seen)
}
