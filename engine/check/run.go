package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// limit is how long a check takes at most; what was not asked by then is
// NoAnswer.
const limit = 15 * time.Second

// Run compares the prompts that the engine behind c makes with those of m.
// It takes at most 15 seconds, and ends at once with ctx. The client must have
// probed its server.
func Run(ctx context.Context, c engine.Client, m *prompt.Model) Report {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the check took %v, which is its limit", limit))
	defer cancel()
	r, shows := c.(engine.Renderer)
	var report Report
	for _, t := range conversations() {
		f := Finding{Name: t.name, Result: NotShown}
		if shows {
			f = compare(ctx, r, m, t)
			shows = f.Result != NotShown
		}
		report.Findings = append(report.Findings, f)
	}
	return report
}

// compare looks at one conversation.
func compare(ctx context.Context, r engine.Renderer, m *prompt.Model, t talk) Finding {
	f := Finding{Name: t.name, Result: Equal}
	prompt.Steady(&t.turn)
	ours, refusal := own(m, &t.turn, time.Now())
	theirs, err := r.Render(ctx, &t.turn, m.Template().Switches(&t.turn))
	switch refused := (*turn.Refused)(nil); {
	case errors.As(err, &refused) && refusal != nil:
		f.Result, f.Why = Refused, refused.Message
	case errors.As(err, &refused):
		f.Result, f.Why = Ours, refused.Message
	case errors.Is(err, errors.ErrUnsupported):
		f.Result = NotShown
	case err != nil:
		f.Result, f.Why = NoAnswer, err.Error()
	case refusal != nil:
		f.Result, f.Why = Theirs, refusal.Error()
	default:
		judge(&f, m, &t.turn, ours, theirs)
	}
	f.Why = clip(f.Why)
	return f
}

// page is a prompt: its text, and its ids.
type page struct {
	text string
	ids  []uint32
}

// own is dyn's prompt. The ids are those that Build makes, as for a turn; the
// text is the template's.
func own(m *prompt.Model, t *turn.Turn, now time.Time) (page, error) {
	p, err := m.Build(nil, t, nil, nil)
	if err != nil {
		return page{}, err
	}
	text, err := printed(m, t, now)
	return page{text, p.IDs.Flat()}, err
}

// printed is what the template prints of a turn, at a time.
func printed(m *prompt.Model, t *turn.Turn, now time.Time) (string, error) {
	p := template.Page{Now: now}
	if err := m.Template().Render(&p, t); err != nil {
		return "", err
	}
	return string(p.Text), nil
}

// judge compares two prompts.
func judge(f *Finding, m *prompt.Model, t *turn.Turn, ours page, theirs engine.Rendered) {
	same := func(text string, ids []uint32) bool {
		if theirs.IDs == nil {
			return text == theirs.Text || begins(m, text, theirs.Text)
		}
		if ids == nil {
			ids = m.Tokenizer().Encode(nil, text)
		}
		return slices.Equal(ids, theirs.IDs)
	}
	if theirs.IDs == nil {
		f.Why = "only its text is shown, so that nothing is known of its tokenizer"
	}
	if same(ours.text, ours.ids) {
		return
	}
	now := time.Now()
	days := []time.Time{now}
	for _, day := range []time.Time{now.AddDate(0, 0, -1), now.AddDate(0, 0, 1)} {
		text, err := printed(m, t, day)
		if err != nil || text == ours.text {
			continue // it prints no date
		}
		if same(text, nil) {
			f.Why = "but for its date, which is another day's"
			return
		}
		days = append(days, day)
	}
	f.Diff = difference(m, ours, theirs)
	for _, day := range days {
		for _, text := range unaided(m, t, day) {
			if same(text, nil) {
				f.Result, f.Why = Adapted, "the template prints this of it; dyn gives it the conversation so that nothing is lost"
				return
			}
		}
	}
	f.Result, f.Why = Differs, cause(ours, theirs)
}

// begins reports whether a text that is shown without the token that every
// text begins with is ours but for that.
func begins(m *prompt.Model, ours, theirs string) bool {
	before, _ := m.Tokenizer().Around()
	return len(before) > 0 && ours == string(m.Tokenizer().Decode(nil, before))+theirs
}
