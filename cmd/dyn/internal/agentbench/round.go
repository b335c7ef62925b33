package agentbench

import (
	"context"
	"sync"
	"time"
)

// Message is one message of a conversation.
type Message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content,omitempty"`
}

// Request is one turn of a session.
type Request struct {
	Session  int
	Turn     int
	Last     bool // nothing comes after it
	Messages []Message
}

// Answer is what came, and what it cost. Counts of -1 are not known.
type Answer struct {
	Text, Reasoning        string
	TTFT                   time.Duration // below 0 without a token
	Prompt, Cached, Output int           // tokens
	Worker                 string
}

// Turn is what one turn cost.
type Turn struct {
	Session, Turn          int
	At                     time.Duration // since the round's start
	TTFT                   time.Duration
	Prompt, Cached, Output int
	Known                  int // tokens of the prompt that the session's turn before had already
	Worker                 string
	Err                    error // the session ended with it
}

// Recomputed is how many tokens were computed that the session's worker of the
// turn before had; -1 is not known.
func (t Turn) Recomputed() int {
	if t.Cached < 0 {
		return -1
	}
	return max(t.Known-t.Cached, 0)
}

// Ask sends one turn and waits for its answer. It is called from many
// goroutines at once.
type Ask func(ctx context.Context, q Request) (Answer, error)

// Round lets the sessions of a load work until all are done, and returns what
// their turns cost, by session and turn. A session ends with its first error.
// When ctx ends, what was not done is left out.
func Round(ctx context.Context, l Load, ask Ask, done func(Turn)) []Turn {
	began, system := time.Now(), l.System()
	all := make([][]Turn, l.Sessions)
	var wait sync.WaitGroup
	for i := range l.Sessions {
		wait.Go(func() { all[i] = session(ctx, l, i, system, began, ask, done) })
	}
	wait.Wait()
	var turns []Turn
	for _, one := range all {
		turns = append(turns, one...)
	}
	return turns
}

// session lets one agent work.
func session(ctx context.Context, l Load, i int, system string, began time.Time, ask Ask, done func(Turn)) (turns []Turn) {
	s := l.Script(i)
	if !rest(ctx, s.Start) {
		return nil
	}
	messages := []Message{{Role: "system", Content: system}}
	known := 0
	for k, say := range s.Says {
		messages = append(messages, Message{Role: "user", Content: say})
		t := Turn{Session: i, Turn: k, At: time.Since(began), Known: known}
		a, err := ask(ctx, Request{Session: i, Turn: k, Last: k == len(s.Says)-1, Messages: messages[:len(messages):len(messages)]})
		if ctx.Err() != nil {
			return turns
		}
		t.Err, t.TTFT, t.Prompt, t.Cached, t.Output, t.Worker = err, a.TTFT, a.Prompt, a.Cached, a.Output, a.Worker
		turns = append(turns, t)
		done(t)
		if err != nil {
			return turns
		}
		known = a.Prompt
		messages = append(messages, Message{Role: "assistant", Content: a.Text, Reasoning: a.Reasoning})
		if k < len(s.Says)-1 && !rest(ctx, s.Pauses[k]) {
			return turns
		}
	}
	return turns
}

// rest waits; false when ctx ended first.
func rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
