package server

import (
	"fmt"

	"github.com/agentinfer/dyn/turn"
)

// admit makes a turn its key's: it takes a place within the limits, gives it
// the tenant's salt and name, and holds it to the key's ceiling. What is not
// done as asked is told in the warning header.
func (s *Server) admit(c *call, t *turn.Turn) error {
	for _, name := range t.Hints.Unknown {
		c.warn("the hint " + clip(name) + " is not known here and was ignored")
	}
	if err := overrides(c, &t.Hints); err != nil {
		return err
	}
	if c.who == nil {
		return nil
	}
	if err := c.enter(); err != nil {
		return full(err)
	}
	key := c.who.Key()
	t.Tenant, t.Salt = key.Name, c.who.Salt(t.Salt)
	if t.Who.Session != "" {
		t.Who.Session = key.Name + "/" + t.Who.Session // two keys' sessions never meet
	}
	if key.Capped {
		t.Ceiling = &key.MaxPriority
		c.lower(&t.Hints.Priority, key.MaxPriority, "priority")
		c.lower(&t.Hints.Strict, max(key.MaxPriority, 0), "strict_priority")
	}
	return nil
}

// lower holds what a turn asks for to a key's ceiling, and tells that. 0 is
// what nobody asked for.
func (c *call) lower(p *int, ceiling int, what string) {
	if *p <= ceiling {
		return
	}
	if *p != 0 {
		c.warn(fmt.Sprintf("%s %d is above the key's ceiling, %d counts", what, *p, ceiling))
	}
	*p = ceiling
}
