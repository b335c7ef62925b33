package jinja

import (
	"fmt"
	"time"
)

// Options bound a rendering and give it its clock. A zero field stands for
// its default.
type Options struct {
	Steps  int           // nodes of the tree evaluated, items touched; default 200 million
	Depth  int           // calls of macros and recursive loops inside each other; default 150
	Bytes  int           // taken by all values made, in all; default 256 MiB
	Output int           // bytes of text; default 64 MiB
	Time   time.Duration // default 2 s
	// Now is the clock of strftime_now; default time.Now.
	Now func() time.Time
}

func (o Options) defaults() Options {
	pick := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	pick(&o.Steps, 200_000_000)
	pick(&o.Depth, 150)
	pick(&o.Bytes, 256<<20)
	pick(&o.Output, 64<<20)
	if o.Time <= 0 {
		o.Time = 2 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// glance is how many steps pass between looks at the clock.
const glance = 1 << 14

// perItem is what a member of a list or mapping is reckoned to take.
const perItem = 48

// spend counts steps, and looks at the clock now and then.
func (r *run) spend(n int) error {
	r.steps -= n
	if r.steps >= r.look {
		return nil
	}
	if r.steps < 0 {
		return fmt.Errorf("render template: more than %d steps: %w", r.o.Steps, ErrLimit)
	}
	r.look = max(0, r.steps-glance)
	if time.Now().After(r.ends) {
		return fmt.Errorf("render template: longer than %v: %w", r.o.Time, ErrLimit)
	}
	return nil
}

// reads counts the time that going through a text takes.
func (r *run) reads(s string) error {
	if len(s) < 256 {
		return nil
	}
	return r.spend(len(s) >> 4)
}

// take counts bytes of a value before it is made, and the time it needs.
func (r *run) take(n int) error {
	if n < 0 || n > r.bytes {
		return fmt.Errorf("render template: values take more than %d bytes: %w", r.o.Bytes, ErrLimit)
	}
	r.bytes -= n
	if n >= 1024 {
		return r.spend(n >> 6)
	}
	return nil
}

// wrote checks the output, captured text included, after something was added.
func (r *run) wrote() error {
	if len(r.out)-r.base > r.o.Output {
		return fmt.Errorf("render template: more than %d bytes of output: %w", r.o.Output, ErrLimit)
	}
	return nil
}

func tooDeep() error {
	return fmt.Errorf("render template: values nested deeper than %d: %w", deepest, ErrLimit)
}
