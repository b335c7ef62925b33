package diff

// Kind says why a prompt parts from the one before.
type Kind string

// The kinds. Those of the words at the place come first.
const (
	Clock       Kind = "clock"       // a time or a date
	Attribution Kind = "attribution" // the line that Claude Code puts before the system text
	Folder      Kind = "folder"      // a path: another folder, or a session of another one
	Value       Kind = "value"       // a number or an id that is another one each time

	ToolOrder   Kind = "tools reordered"
	ToolAdded   Kind = "tools added"
	ToolRemoved Kind = "tools removed"
	ToolChanged Kind = "tool changed"

	Compaction Kind = "compaction" // a summary stands for the conversation
	Thinking   Kind = "thinking"   // reasoning that stood there is gone
	Effort     Kind = "effort"     // what the client says about reasoning
	Rewound    Kind = "rewound"    // the conversation was taken back, and goes another way
	Edited     Kind = "edited"     // a message is not as it was
	System     Kind = "system"     // the system's text is not as it was
	Template   Kind = "template"   // the template prints the same messages another way
)

// Kinds lists them all.
func Kinds() []Kind {
	return []Kind{
		Clock, Attribution, Folder, Value, ToolOrder, ToolAdded, ToolRemoved, ToolChanged,
		Compaction, Thinking, Effort, Rewound, Edited, System, Template,
	}
}

// Fields of a message, of a tool, and of a turn. Those of messages are named
// as in turn.Block.
const (
	FieldRole     = "role"
	FieldBlocks   = "blocks" // a block is there or is not, or is of another kind
	FieldText     = "text"
	FieldThinking = "thinking"
	FieldName     = "name"
	FieldArgs     = "args"
	FieldID       = "id"
	FieldError    = "is_error"
	FieldRaw      = "content" // of an image, a document, or what is not known

	FieldDescription = "description"
	FieldSchema      = "schema"
	FieldOrder       = "order"
	FieldAdded       = "added"
	FieldRemoved     = "removed"

	FieldEffort = "thinking settings"
)

// Break is where a prompt parts from what an engine could have of the prompt
// before and of the answer to it.
type Break struct {
	Kind    Kind   `json:"kind"`
	Message int    `json:"message"` // its index once the leading system messages are one and later ones stand in the message before; -1 is none
	Role    string `json:"role"`    // of the message
	Block   int    `json:"block"`   // of the message; -1 is none
	Tool    int    `json:"tool"`    // index among the turn's tools; -1 is none
	Field   string `json:"field"`
	Token   int    `json:"token"`        // the first that differs
	Held    int    `json:"held_tokens"`  // of the prompt before and its answer
	Again   int    `json:"again_tokens"` // computed again, which would have been cached
	Size    int    `json:"block_size"`   // tokens in a KV block; 0 unknown
	Was     string `json:"was_hash"`     // of the field; "" unknown
	Now     string `json:"now_hash"`
	Other   string `json:"against"` // "session/agent" it was compared with; "" is the agent's own turn before
	Text    *Text  `json:"text,omitempty"`
}

// Text is content: what stood where the prompts part, and what stands there
// now. Both begin alike; At is how many bytes.
type Text struct {
	Was  string `json:"was"`
	Now  string `json:"now"`
	At   int    `json:"at"`
	Tool string `json:"tool"` // name of the tool, where it is one or a call of one
}

// Block0 is the first KV block that differs, counted from 0, of how many the
// engine could have; false where the size of blocks is not known.
func (b *Break) Block0() (first, held int, ok bool) {
	if b.Size <= 0 {
		return 0, 0, false
	}
	return b.Token / b.Size, b.Held / b.Size, true
}
