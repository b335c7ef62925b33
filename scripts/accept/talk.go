package main

import (
	"context"
	"fmt"
	"strings"
)

// agent is one line of turns in one dialect. It keeps the history as its
// dialect's client would: what the server sent goes back as it came.
type agent interface {
	// say adds a user's message and asks for an answer.
	say(ctx context.Context, text string) (answer, error)
	// result adds the result of a call and asks for an answer.
	result(ctx context.Context, c call, text string) (answer, error)
}

// answer is what came back, free of its dialect.
type answer struct {
	text  string
	calls []call
}

// call is a tool call of an answer.
type call struct{ id, name, args string }

// dialects are the ways an agent can talk, in the order they are tried.
var dialects = []struct {
	name string
	open func(post, who) agent
}{{"messages", newMessages}, {"responses", newResponses}, {"chat", newChat}}

// talk holds the scripted conversation in one dialect after the other: the
// lead and its subagent speak in turns, as they do when a lead waits for what
// its subagent finds.
func talk(ctx context.Context, url, tag string) error {
	for _, d := range dialects {
		lead := who{session: "accept-" + tag + "-" + d.name}
		sub := who{session: lead.session, agent: "sub"}
		agents := []*line{{agent: d.open(post{url}, lead), who: lead}, {agent: d.open(post{url}, sub), who: sub}}
		for i, s := range script {
			for _, a := range agents {
				if err := a.take(ctx, s); err != nil {
					return fmt.Errorf("%s, %s, step %d: %w", d.name, a.name(), i+1, err)
				}
			}
		}
	}
	fmt.Println("ok: the conversation, two agents in three dialects")
	return nil
}

// who tells whose agent it is.
type who struct {
	session string
	agent   string // "" is the lead
}

// step is one step of an agent's script: what it says, or the result of the
// call it was asked for; and what must come back. The words that the brain
// looks for stand at the ends of the texts, since it sees the end of a prompt
// only.
type step struct {
	result bool
	words  int
	end    string
	tool   string // "" wants text
	want   string
}

var script = []step{
	{false, 900, "ACCEPT task of", "look", `"n": 1`},
	{true, 300, "RESULT-1", "look", `"n": 2`},
	{true, 300, "RESULT-2", "", "Both looks are done"},
	{false, 200, "ACCEPT second task", "look", `"n": 3`},
	{true, 300, "RESULT-3", "", "The third look is done"},
	{false, 5, "ACCEPT last word", "", "Goodbye"},
}

// line is an agent on its way through the script.
type line struct {
	agent agent
	who   who
	last  answer
}

func (l *line) name() string {
	if l.who.agent == "" {
		return "lead"
	}
	return l.who.agent
}

// take takes one step.
func (l *line) take(ctx context.Context, s step) error {
	text := prose(s.end+l.name()+l.who.session, s.words) + " " + s.end + " (" + l.name() + ")"
	var err error
	if s.result {
		l.last, err = l.agent.result(ctx, l.last.calls[0], text)
	} else {
		l.last, err = l.agent.say(ctx, text)
	}
	return expect(l.last, err, s.tool, s.want)
}

// expect checks an answer: a call of the tool with want in its arguments, or
// a text that holds want.
func expect(got answer, err error, tool, want string) error {
	switch {
	case err != nil:
		return err
	case tool == "" && len(got.calls) == 0 && strings.Contains(got.text, want):
		return nil
	case tool != "" && len(got.calls) == 1 && got.calls[0].name == tool && strings.Contains(loose(got.calls[0].args), loose(want)):
		return nil
	}
	return fmt.Errorf("answer is %+v, want tool %q and %q", got, tool, want)
}

func loose(s string) string { return strings.ReplaceAll(s, " ", "") }

// prose is a text of n words that depends on its seed.
func prose(seed string, n int) string {
	words := strings.Fields("the agent reads a file and finds that its cache holds older blocks while another worker waits for tokens of some long prompt which nobody asked about yet")
	h := uint32(2166136261)
	for _, c := range []byte(seed) {
		h = (h ^ uint32(c)) * 16777619
	}
	var b strings.Builder
	for range n {
		h = h*1664525 + 1013904223
		b.WriteString(words[int(h>>16)%len(words)])
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}
