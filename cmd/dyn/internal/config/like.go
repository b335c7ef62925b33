package config

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/route"
)

// ValueError says that a setting cannot have a value, of those that have some
// values only.
type ValueError struct {
	Where string // "--router-mode", "DYN_ROUTER__MODE"; "" is not said
	Like  string // a value that may have been meant; "" is none
	Any   string // one that it can have
	Err   error
}

// Error says where the value stands, and what is wrong with it.
func (e *ValueError) Error() string {
	if e.Where == "" {
		return e.Err.Error()
	}
	return e.Where + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *ValueError) Unwrap() error { return e.Err }

// Good is a value that it can have, the one that may have been meant where there
// is such a one; "" is unknown.
func (e *ValueError) Good() string { return cmp.Or(e.Like, e.Any) }

// Try is the command line of "dyn op" with a value that it can have; "" where
// none is known.
func (e *ValueError) Try(op string) string {
	switch good := e.Good(); {
	case good == "" || e.Where == "":
		return ""
	case strings.HasPrefix(e.Where, "--"):
		return "dyn " + op + " " + e.Where + " " + good
	default:
		return e.Where + "=" + good + " dyn " + op
	}
}

// placed is err with the place of the value that it is about.
func placed(where string, err error) error {
	var bad *ValueError
	if errors.As(err, &bad) {
		return &ValueError{where, bad.Like, bad.Any, bad.Err}
	}
	return &ValueError{Where: where, Err: err}
}

// NoRule is the ValueError of a text of which route.New says that it names no
// strategy.
func NoRule(err error) *ValueError {
	no, bad := &ValueError{Err: err}, new(route.TextError)
	if !errors.As(err, &bad) { // of a file
		return no
	}
	if no.Any = route.Names()[0]; bad.Known {
		no.Like = knobLike(bad)
	} else {
		no.Like = Nearest(bad.Name, route.Names())
	}
	return no
}

// knobLike is the rule with the knob that may have been meant.
func knobLike(bad *route.TextError) string {
	rules := route.Rules()
	r := rules[slices.IndexFunc(rules, func(r route.Rule) bool { return r.Name == bad.Name })]
	key, value, _ := strings.Cut(bad.Knob, "=")
	key = Nearest(key, slices.Sorted(maps.Keys(r.Knobs)))
	if key == "" {
		return r.Name
	}
	if _, err := strconv.ParseFloat(value, 64); err != nil {
		value = strconv.FormatFloat(r.Knobs[key], 'g', -1, 64)
	}
	return r.Name + ":" + key + "=" + value
}
