package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures/talk"
	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/turn"
)

// change is what a client does to a conversation, and how it is explained.
type change struct {
	name   string
	do     func(*talk.Talk)
	kind   diff.Kind
	in     string // the message and field
	was    string // words of what stood there, and of what stands now
	now    string
	try    string
	anew   bool // in a session of its own
	before func(*talk.Talk)
}

const compacted = "This session is being continued from a previous conversation that ran out of context. It was about files."

// changes are the kinds that are known by name.
var changes = []change{
	{
		name: "clock", do: system("12:00:41", "12:07:02"), kind: diff.Clock, in: "message 0 (system), block 0: text",
		was: "It is 12:0┃0:41 now", now: "It is 12:0┃7:02 now", try: "take the time out",
	},
	{
		name: "attribution", before: system("code.", "code.\nx-anthropic-billing-header: cch=9f2ab;"), do: system("cch=9f2ab", "cch=41a00"),
		kind: diff.Attribution, in: "message 0 (system), block 0: text", was: "cch=┃9f2ab;", now: "cch=┃41a00;", try: "dyn claude",
	},
	{
		name: "reordered", do: func(c *talk.Talk) { slices.Reverse(c.Tools) }, kind: diff.ToolOrder,
		in: "tool 0 run: order", was: "┃look", now: "┃run", try: "send the tools in one order",
	},
	{
		name: "compaction", do: func(c *talk.Talk) {
			c.Said = []talk.Step{{Role: "user", Text: compacted}, {Role: "user", Text: "Go on."}}
		}, kind: diff.Compaction, in: "message 1 (user), block 0: text", was: "┃What is in", now: "┃This session is being continued", try: "dyn up --max-model-len",
	},
	{
		name: "edited", do: func(c *talk.Talk) { c.Said[2].Text = strings.Replace(c.Said[2].Text, "add", "sub", 1) }, kind: diff.Edited,
		in: "message 3 (tool), block 0: text", was: "func ┃add(", now: "func ┃sub(", try: "say it in a new message",
	},
	{
		name: "thinking", do: func(c *talk.Talk) { c.Said[1].Thinking = "" }, kind: diff.Thinking,
		in: "message 2 (assistant), block 0: thinking", was: "┃<think>⏎It wants to know.", now: "┃I look.", try: "set the template's switch",
	},
	{
		name: "folder", do: system("src/payments", "src/dyn"), kind: diff.Folder, in: "message 0 (system), block 0: text",
		was: "/home/me/src/┃payments", now: "/home/me/src/┃dyn", try: "start the sessions in one folder",
	},
	{
		name: "session", anew: true, do: system("src/payments", "src/dyn"), kind: diff.Folder, in: "message 0 (system), block 0: text",
		was: "/home/me/src/┃payments", now: "/home/me/src/┃dyn", try: "start the sessions in one folder",
	},
}

// cost are words of what it costs: behind a summary all is new.
func (x change) cost() string {
	if x.kind == diff.Compaction {
		return "\n  cost  nothing is computed again"
	}
	return " tokens computed again, about "
}

func system(was, now string) func(*talk.Talk) {
	return func(c *talk.Talk) { c.System[1] = strings.Replace(c.System[1], was, now, 1) }
}

// TestWhyKinds plays each kind of change in each dialect to a daemon with two
// workers: the explanation names it, its place, its words, its cost and what to
// try; later, and to another daemon, the same without the words.
func TestWhyKinds(t *testing.T) {
	h := newHouse(t)
	h.up(t)
	told := map[string]whyDoc{}
	for _, d := range talk.Dialects {
		for _, x := range changes {
			session := h.plays(t, d, x)
			doc := h.why(t, session)
			checkWhy(t, session, x, doc)
			page := h.run(t, "why", session)
			for _, want := range []string{
				": " + string(x.kind) + "\n", "\n  in    " + x.in + "\n", x.was, x.now, x.cost(), "  " + x.try,
			} {
				if !strings.Contains(page, want) {
					t.Errorf("%s: no %q in\n%s", session, want, page)
				}
			}
			told[session] = doc
		}
	}
	h.run(t, "down")
	for _, up := range []bool{false, true} {
		if up {
			h.up(t)
		}
		for session, was := range told {
			now := h.why(t, session)
			if now.Break == nil || now.Break.Text != nil {
				t.Fatalf("%s, a daemon %v: %+v", session, up, now.Break)
			}
			was.Break = without(was.Break)
			if !reflect.DeepEqual(now, was) {
				t.Errorf("%s, a daemon %v:\n%+v\nwas\n%+v", session, up, now, was)
			}
		}
		page := h.run(t, "why", told["chat-clock"].Turn.ID)
		for _, want := range []string{": clock\n", "\n  in    message 0 (system), block 0: text\n", "\n  was   hash ", "\n  now   hash ", " tokens computed again, about ", "\n  try:  take the time"} {
			if !strings.Contains(page, want) || strings.Contains(page, "12:0┃") {
				t.Errorf("a daemon %v: no %q, or words, in\n%s", up, want, page)
			}
		}
	}
}

// without is a break as the books have it, without its words.
func without(b *diff.Break) *diff.Break {
	c := *b
	c.Text = nil
	return &c
}

// plays sends a conversation and what becomes of it, and returns the session of
// the turn that is to be explained.
func (h *house) plays(t *testing.T, d turn.Dialect, x change) string {
	t.Helper()
	session := string(d) + "-" + x.name
	was := talk.Usual()
	was.Model, was.System[1] = "real", "Known as "+session+".\n"+was.System[1] // shares nothing with other sessions
	for i := range was.Said {
		was.Said[i].Text += " (" + session + ")"
	}
	if x.before != nil {
		x.before(&was)
	}
	now := was.Clone()
	x.do(&now)
	h.posts(t, d, session, was)
	if x.anew {
		session += "-2"
	}
	h.posts(t, d, session, now)
	return session
}

// posts sends a turn of a session.
func (h *house) posts(t *testing.T, d turn.Dialect, session string, c talk.Talk) {
	t.Helper()
	path := map[turn.Dialect]string{turn.Chat: "/v1/chat/completions", turn.Responses: "/v1/responses", turn.Messages: "/v1/messages"}[d]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+path, bytes.NewReader(c.Body(d)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-session-id", session)
	req.Header.Set("user-agent", "opencode/1.18")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", session, resp.Status, answer)
	}
}

// why is the explanation of a session's last turn.
func (h *house) why(t *testing.T, session string) (doc whyDoc) {
	t.Helper()
	out := h.run(t, "why", session, "--json")
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s: %v: %s", session, err, out)
	}
	return doc
}

// checkWhy holds an explanation against what was done and what engines said.
func checkWhy(t *testing.T, session string, x change, d whyDoc) {
	t.Helper()
	b := d.Break
	if b == nil {
		t.Fatalf("%s: no break", session)
	}
	if b.Kind != x.kind || (b.Other != "") != x.anew || len(d.Try) == 0 {
		t.Errorf("%s: %+v, tries %q", session, *b, d.Try)
	}
	const block = 16
	own := d.Before != nil && d.Before.Worker == d.Turn.Worker
	if computed := d.Turn.Prompt - d.Turn.Cached; d.Turn.Overlap != d.Turn.Cached || own && (b.Token/block*block != d.Turn.Cached || b.Again > computed) {
		t.Errorf("%s: token %d, %d again; believed %d of %d, the engine said %d", session, b.Token, b.Again, d.Turn.Overlap, d.Turn.Prompt, d.Turn.Cached)
	}
	if again := x.kind != diff.Compaction; (b.Again > 0) != again || (d.AgainMS > 0) != again || d.AgainMS > d.Turn.TTFTMS {
		t.Errorf("%s: %d tokens again, %v ms of %v", session, b.Again, d.AgainMS, d.Turn.TTFTMS)
	}
	if n := len(d.Breaks); n != 1 || d.Breaks[0].Kind != x.kind {
		t.Errorf("%s: breaks %+v", session, fmt.Sprint(d.Breaks))
	}
}
