package template

import (
	"slices"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// A page tells the same places and the same generation prompt as one that has
// seen nothing, of a template that has seen nothing, when what comes early in
// the conversation changes: the system message, the tools, results that answer
// no call.
func TestNothingIsStale(t *testing.T) {
	texts := fixtures.Templates(t)
	ask := func(s string) turn.Message {
		return turn.Message{Role: turn.User, Blocks: []turn.Block{{Text: s}}}
	}
	system := func(s string) turn.Message {
		return turn.Message{Role: turn.System, Blocks: []turn.Block{{Text: s}}}
	}
	call, result, done := talk().Messages[2], talk().Messages[3], talk().Messages[6]
	steps := [][]turn.Message{
		{system("Short."), ask("What?")},
		{system("Quite a bit longer than before."), ask("What?")},
		{system("Quite a bit longer than before."), ask("What?"), call, result},
		{ask("What?"), done, result},
		{ask("What, then?"), done, ask("So?")},
		{ask("What?"), done, ask("So?"), call, result, done, ask("Well?")},
		{ask("Which?"), done, {Role: turn.ToolRole}},
		{ask("Which?"), done, ask("Now?")},
	}
	for _, name := range sortedKeys(texts) {
		tmpl := opened(t, texts[name], nil)
		var page Page
		page.Now = clock()
		for i, ms := range slices.Concat(steps, steps[:4]) {
			tn := talk()
			tn.Messages = ms
			if i%3 == 2 {
				tn.Tools = nil
			}
			fresh := Page{Now: clock()}
			err, werr := tmpl.Render(&page, tn), opened(t, texts[name], nil).Render(&fresh, tn)
			if (err == nil) != (werr == nil) {
				t.Fatalf("%s, step %d: %v, from nothing %v", name, i, err, werr)
			}
			if err == nil && (page.Opening != fresh.Opening || !samePlaces(&page, &fresh)) {
				t.Errorf("%s, step %d: opening %d, places %v; from nothing %d, %v", name, i, page.Opening, page.Spans, fresh.Opening, fresh.Spans)
			}
		}
	}
}
