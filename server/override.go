package server

import (
	"errors"
	"strconv"
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
	default:
		why := unnamed(o.Strategy)
		if why == "" {
			return nil
		}
		no = &dialect.Problem{Param: "strategy", Message: why}
		o.Strategy = ""
	}
	if h.Exactly {
		return no
	}
	c.warn(no.Error() + "; the daemon's own settings count")
	return nil
}

// mostStrategy is how long the text of a strategy may be: all knobs of any rule
// take less.
const mostStrategy = 512

// unnamed says why a turn cannot have a strategy, which may have knobs but is no
// file; "" is that it can.
func unnamed(text string) string {
	name, _, _ := strings.Cut(text, ":")
	_, err := route.New(text)
	var bad *route.TextError
	switch {
	case len(text) > mostStrategy:
		return "the strategy's text is longer than " + strconv.Itoa(mostStrategy) + " bytes"
	case err == nil:
		return ""
	case errors.As(err, &bad) && bad.Known:
		return err.Error()
	}
	return "no strategy is named " + clip(name) + "; there are " + strings.Join(route.Names(), ", ")
}
