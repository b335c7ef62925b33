package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// salts checks that what one key has cached is no hit for another, by what
// both the engine's answer and its counter say.
func salts(ctx context.Context, l *lab, s *sheet) (err error) {
	secrets := map[string]string{}
	defer func() {
		l.key = ""
		for _, name := range slices.Sorted(maps.Keys(secrets)) {
			_, e := l.dyn(context.WithoutCancel(ctx), "key", "rm", name)
			err = errors.Join(err, e)
		}
	}()
	for _, name := range []string{"alice", "bob"} {
		var doc struct{ Secret string }
		out, err := l.dyn(ctx, "key", "add", name, "--json")
		if err == nil {
			err = json.Unmarshal(out, &doc)
		}
		if err != nil {
			return err
		}
		secrets[name] = doc.Secret
	}
	w, err := l.worker(ctx, "w0")
	if err != nil {
		return err
	}
	t := l.talk("salt", 300).at("w0").say("Say hello.")
	cached := map[string][]int{}
	var own []int
	for _, name := range []string{"alice", "alice", "bob", "bob", "alice"} {
		before, err := l.counters(ctx, w)
		if err != nil {
			return err
		}
		l.key = secrets[name]
		r, err := t.stream(ctx, 4, nil)
		if err != nil {
			return err
		}
		if _, err := l.idle(ctx, w); err != nil {
			return err
		}
		after, err := l.counters(ctx, w)
		if err != nil {
			return err
		}
		cached[name] = append(cached[name], r.usage.Details.Cached)
		own = append(own, after.cached-before.cached)
	}
	a, b := cached["alice"], cached["bob"]
	right := a[0] == 0 && b[0] == 0 && slices.Equal(own, []int{a[0], a[1], b[0], b[1], a[2]})
	s.check(l.k.name, "salt: one prompt by two keys at one worker", right,
		"cached for the first key %d, again %d; for the second %d, again %d; for the first once more %d; the engine counts %v", a[0], a[1], b[0], b[1], a[2], own)
	s.check(l.k.name, "… each key finds what is its own", a[1] > 0 && b[1] > 0, "%d and %d tokens", a[1], b[1])
	return nil
}
