package core

import "time"

// clock lets the time of steps pass. The zero value is ready; it belongs to
// one goroutine.
type clock struct {
	end   time.Time // of the last step
	timer *time.Timer
}

// pass waits for a step of length d. Steps that follow each other at once
// make up for a late wake-up of the one before.
func (c *clock) pass(d time.Duration, urgent <-chan struct{}) {
	if d <= 0 {
		return
	}
	now := time.Now()
	if now.Sub(c.end) > d {
		c.end = now
	}
	c.end = c.end.Add(d)
	c.wait(urgent, c.end.Sub(now))
}

// rest waits for wake, or until a time that is not zero.
func (c *clock) rest(wake <-chan struct{}, until time.Time) {
	if until.IsZero() {
		<-wake
	} else {
		c.wait(wake, time.Until(until))
	}
	c.end = time.Now()
}

func (c *clock) wait(wake <-chan struct{}, d time.Duration) {
	if d <= 0 {
		return
	}
	if c.timer == nil {
		c.timer = time.NewTimer(d)
	} else {
		c.timer.Reset(d)
	}
	select {
	case <-wake:
		c.timer.Stop()
	case <-c.timer.C:
	}
}
