package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// order checks that an important turn overtakes others: in dyn's queue, and in
// that of the engine.
func order(ctx context.Context, l *lab, s *sheet) error {
	w, err := l.worker(ctx, "w0")
	if err != nil {
		return err
	}
	if err := orderOf(s, l, "priority: order of turns that wait at dyn, asked for as 0, 100, 200", "200 100 0", func(arrive func(string)) error {
		return fill(ctx, l, w, func() error {
			return queued([]string{"0", "100", "200"}, arrive, func(i int, p string) error {
				t := l.talk("order", 20).at(w.Name).say("Say hello.")
				t.head["x-dyn-priority"] = p
				_, err := t.stream(ctx, 8, nil)
				return err
			}, func(i int) error { return l.queue(ctx, i+1) })
		})
	}); err != nil {
		return err
	}
	if err := l.settle(ctx); err != nil {
		return err
	}
	return orderOf(s, l, "priority: order of requests that wait at the engine, sent as 10, 0, -10", "-10 0 10", func(arrive func(string)) error {
		return fill(ctx, l, w, func() error {
			return queued([]string{"10", "0", "-10"}, arrive, func(_ int, p string) error {
				_, err := l.complete(ctx, w, map[string]any{"prompt": "Say hello.", "max_tokens": 8, "ignore_eos": true, "priority": json.Number(p)})
				return err
			},
				func(i int) error { return l.waits(ctx, w, i+1) })
		})
	})
}

// orderOf checks in what order things ended.
func orderOf(s *sheet, l *lab, what, want string, do func(arrive func(string)) error) error {
	var mu sync.Mutex
	var got []string
	if err := do(func(name string) { mu.Lock(); got = append(got, name); mu.Unlock() }); err != nil {
		return err
	}
	s.check(l.k.name, what, strings.Join(got, " ") == want, "they ended in the order %s", strings.Join(got, ", "))
	return nil
}

// fill does something while all slots of a worker are taken. They come free
// one after the other.
func fill(ctx context.Context, l *lab, w snapshot.Worker, do func() error) error {
	var all sync.WaitGroup
	defer all.Wait()
	for i := range w.Slots {
		begun := make(chan error, 1)
		t := l.talk("order-full", 20).at(w.Name).say("Tell a long story.")
		t.full = true
		all.Go(func() {
			var once sync.Once
			_, err := t.stream(ctx, 300+300*i, func(string) { once.Do(func() { begun <- nil }) })
			once.Do(func() { begun <- err })
		})
		if err := <-begun; err != nil {
			return err
		}
	}
	return do()
}

// queued starts things one after the other, the next when the one before has
// arrived, and waits for all.
func queued(names []string, ended func(string), do func(int, string) error, arrived func(int) error) error {
	failed := make(chan error, len(names))
	for i, name := range names {
		go func() {
			err := do(i, name)
			ended(name)
			failed <- err
		}()
		if err := arrived(i); err != nil {
			return err
		}
	}
	for range names {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

// complete sends a prompt to the engine itself, as its own clients do, and
// returns the text.
func (l *lab) complete(ctx context.Context, w snapshot.Worker, body map[string]any) (string, error) {
	key, err := l.secret(w.Name)
	if err != nil {
		return "", err
	}
	body["model"] = l.k.model
	at := lab{url: w.URL, key: key}
	status, text, err := at.document(ctx, "/v1/completions", nil, body)
	if err != nil {
		return "", err
	}
	var doc struct{ Choices []struct{ Text string } }
	if err := json.Unmarshal(text, &doc); err != nil || status != http.StatusOK || len(doc.Choices) == 0 {
		return "", fmt.Errorf("%s itself: status %d: %s", w.Name, status, tail(text))
	}
	return doc.Choices[0].Text, nil
}

// waits waits until so many requests wait in the engine.
func (l *lab) waits(ctx context.Context, w snapshot.Worker, n int) error {
	for {
		c, err := l.counters(ctx, w)
		if err != nil {
			return err
		}
		if c.waiting >= n {
			return nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%d requests wait in the engine, not %d: %w", c.waiting, n, err)
		}
	}
}
