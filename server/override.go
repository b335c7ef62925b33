package server

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// overrides holds what a turn sets of the router to what its key may and to
// what there is. What does not count is told in the warning header, or is an
// error where strictness was asked for.
func overrides(c *call, h *turn.Hints) error {
	var no *dialect.Problem
	switch o := &h.Route; {
	case !o.Any():
		return nil
	case c.who != nil && !c.who.Key().Route:
		no = &dialect.Problem{Kind: dialect.Forbidden, Message: "the key " + c.tenant() + " may not set the router for its turns; see dyn key add --route"}
		*o = turn.Overrides{}
	case o.Strategy != "" && !named(o.Strategy):
		no = &dialect.Problem{Param: "strategy", Message: "no strategy is named " + clip(o.Strategy) + "; there are " + strings.Join(route.Names(), ", ")}
		o.Strategy = ""
	default:
		return nil
	}
	if h.Exactly {
		return no
	}
	c.warn(no.Error() + "; the daemon's own settings count")
	return nil
}

// named reports a rule's name, without knobs: each that turns name is kept.
func named(strategy string) bool {
	return slices.ContainsFunc(route.Rules(), func(r route.Rule) bool {
		return r.Name == strategy || r.Alias == strategy && strategy != ""
	})
}
