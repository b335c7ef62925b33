package prompt

import "github.com/agentinfer/dyn/turn"

// Renderer makes a model's text of a turn. The segments joined are what the
// model's chat template prints for the turn, generation prompt included.
// Render is safe for concurrent use and does not keep t.
type Renderer interface {
	Render(t *turn.Turn) ([]Segment, error)
}

// Segment is a piece of the rendered text that is tokenised on its own.
// Segments come in the order of the messages.
type Segment struct {
	Text string

	// Message is the index of the last message that Text renders: −1 for the
	// tools and the default system text when the turn has no system message
	// at its start, len(Messages) for the generation prompt, which is last.
	Message int

	// Head and Foot are the lengths of the opening and the closing around
	// what the model says, for assistant messages and the generation prompt.
	// Text between them is replaced when the model's own ids are known.
	Head, Foot int
}
