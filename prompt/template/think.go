package template

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// toggle is a variable that turns thinking on and off.
type toggle struct {
	name    string
	on, off jinja.Value
	leave   bool // thinking is on where the variable is left alone
}

// set sets the variable.
func (x *toggle) set(ctx *jinja.Map, on bool) {
	switch {
	case !on:
		ctx.Set(x.name, x.off)
	case !x.leave:
		ctx.Set(x.name, x.on)
	}
}

// toggles are the variables by which published templates turn thinking on and
// off. Which of them a template minds is seen by trying.
var toggles = []toggle{
	{"enable_thinking", jinja.Bool(true), jinja.Bool(false), false},
	{"thinking", jinja.Bool(true), jinja.Bool(false), false},
	{"reasoning", jinja.Bool(true), jinja.Bool(false), false},
	{"thinking_mode", jinja.String("enabled"), jinja.String("disabled"), false},
	{"thinking_budget", jinja.Value{}, jinja.Int(0), true},
}

// efforts are the variables that say how much to think.
var efforts = []string{"reasoning_effort", "thinking_effort", "reasoning_strength"}

// ladder is the efforts that clients ask for, least first.
var ladder = []string{"minimal", "low", "medium", "high", "xhigh", "max"}

// noEffort is how templates call no thinking at all.
var noEffort = []string{"none", "no_think"}

// effort is the variable that says how much to think.
type effort struct {
	name  string   // "" is none
	takes []string // of the ladder
	off   string   // its word for no thinking, or ""
	idle  bool     // without a word there is no thinking either
}

// off reports whether a turn wants no thinking.
func off(th turn.Thinking) bool {
	return th.Mode == "off" || th.Mode == "" && th.Effort == "none"
}

func (f *facts) canTurnOff() bool { return len(f.flags) > 0 || f.effort.off != "" }

// think sets what a turn says of thinking. A template that cannot be told to
// think not at all is told to think least.
func (f *facts) think(ctx *jinja.Map, th turn.Thinking) {
	no := off(th)
	if th.Mode != "" || no {
		for i := range f.flags {
			f.flags[i].set(ctx, !no)
		}
	}
	if f.effort.name == "" {
		return
	}
	switch {
	case no && f.effort.off != "":
		ctx.Set(f.effort.name, jinja.String(f.effort.off))
	case no && len(f.flags) == 0 && f.effort.nearest(ladder[0]) != "":
		ctx.Set(f.effort.name, jinja.String(f.effort.nearest(ladder[0])))
	case th.Mode == "on" && th.Effort == "" && f.effort.idle:
		ctx.Set(f.effort.name, jinja.String(f.effort.nearest("high")))
	case !no && th.Effort != "" && th.Effort != "none":
		if s := f.effort.nearest(th.Effort); s != "" {
			ctx.Set(f.effort.name, jinja.String(s))
		}
	}
}

// nearest is the effort that the template takes for the one asked for: the
// same, else the next below, else the next above; "" for unknown words.
func (e *effort) nearest(s string) string {
	at := slices.Index(ladder, strings.ToLower(s))
	if at < 0 {
		return ""
	}
	best := ""
	for i, have := range ladder {
		if slices.Contains(e.takes, have) && (i <= at || best == "") {
			best = have
		}
	}
	return best
}
