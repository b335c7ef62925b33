package parsers

// Spec says how a family of models writes an answer: what stands around
// reasoning and calls, and what a call is made of. It is data; one engine
// reads them all. Markers are written without the white space around them,
// which is always optional.
//
// The form is that of one YAML file below specs/, and of what `dyn parsers gen`
// writes.
type Spec struct {
	Name    string   `yaml:"name"`
	Models  []string `yaml:"models,omitempty"`  // that write so, for people
	Aliases Aliases  `yaml:"aliases,omitempty"` // other programs' names of the same

	Grammar Grammar `yaml:"grammar,omitempty"` // "" when the family calls no tools
	Bare    bool    `yaml:"bare,omitempty"`    // a call needs no marker, but has to begin the visible answer and name a tool on offer
	Section Pair    `yaml:"section,omitempty"` // around one call or several
	Call    Call    `yaml:"call,omitempty"`
	Arg     Arg     `yaml:"arg,omitempty"`
	JSON    JSON    `yaml:"json,omitempty"`
	Values  Values  `yaml:"values,omitempty"`
	Frame   *Frame  `yaml:"frame,omitempty"` // channels: answers are messages with headers

	Reasoning *Reasoning `yaml:"reasoning,omitempty"`
	Suffix    string     `yaml:"suffix,omitempty"` // ends the names of all tags; where the prompt's end or the answer shows another one, that counts
	Absorb    Marks      `yaml:"absorb,omitempty"` // markers around visible text that say nothing to a client
	Parallel  bool       `yaml:"parallel,omitempty"`

	Tokens   Tokens   `yaml:"tokens,omitempty"`
	Prefix   Prefix   `yaml:"prefix,omitempty"`
	Evidence Evidence `yaml:"evidence,omitempty"`
}

// Grammar is the shape of a call.
type Grammar string

// The grammars.
const (
	JSONCall   Grammar = "json_call"   // an object that holds name and arguments, or a list of them
	NameJSON   Grammar = "name_json"   // the name outside, the arguments as a JSON object
	Tagged     Grammar = "tagged"      // each argument between tags of its own
	PseudoJSON Grammar = "pseudo_json" // an object with bare keys and strings between delimiters
	Pythonic   Grammar = "pythonic"    // a Python call, or a list of them
	Channels   Grammar = "channels"    // the header of a message names the call, its body is one of the others
)

// Marks are spellings of one marker, the usual one first. In YAML a single one
// stands alone.
type Marks []string

// Pair is what something stands between. Several spellings of Open and Close
// are told apart by nothing: any of Close ends what any of Open began.
type Pair struct {
	Open  Marks `yaml:"open,omitempty"`
	Close Marks `yaml:"close,omitempty"`
}

// Aliases are names of a format in vLLM, SGLang, TensorRT-LLM, Dynamo and
// smg. The kinds are apart since one name may mean two formats.
type Aliases struct {
	Tools     []string `yaml:"tools,omitempty"`
	Reasoning []string `yaml:"reasoning,omitempty"`
}

// Call is what a call stands between and how it is headed.
//
// Its header is Open, the name, NameEnd. Both may hold more than a marker:
// {id} is an id, {index} a number that is dropped, a space optional white
// space; so `<|call|>{id}<|name|>` opens a call whose id comes before its name.
// What is live in text is the part before the first brace. Without NameEnd a
// name ends at white space, at the next marker, or with grammar name_json at
// the arguments.
type Call struct {
	Open    Marks  `yaml:"open,omitempty"`
	NameEnd Marks  `yaml:"name_end,omitempty"`
	Close   Marks  `yaml:"close,omitempty"`
	Prefix  string `yaml:"prefix,omitempty"` // stands before the name and is no part of it: "functions."
	ID      string `yaml:"id,omitempty"`     // "header": the whole header is the id; "": {id}, the JSON key, or one of ours
	Fence   bool   `yaml:"fence,omitempty"`  // arguments stand in a Markdown fence
}

// Arg is one argument of a tagged call: Open, the key, Mid, the value, Close.
// Mid may hold {type}, a JSON type's name, or {string}, true or false: then
// these, not the schema, say how the value is read. Close may hold {key}.
type Arg struct {
	Open    Marks  `yaml:"open,omitempty"`
	Mid     Marks  `yaml:"mid,omitempty"`
	Close   Marks  `yaml:"close,omitempty"`
	Newline bool   `yaml:"newline,omitempty"` // one line feed on each side of a value is not part of it
	Nested  bool   `yaml:"nested,omitempty"`  // objects and lists are elements in turn, items in <item>
	CDATA   bool   `yaml:"cdata,omitempty"`   // a value may stand in <![CDATA[ ]]>
	Item    string `yaml:"item,omitempty"`    // with Nested: the key of a list's item
	Body    Pair   `yaml:"body,omitempty"`    // around a JSON object that holds all arguments, instead of them
}

// JSON is what the keys of a call's object are, for json_call.
type JSON struct {
	Name      string `yaml:"name,omitempty"`        // "name"
	Args      Marks  `yaml:"args,omitempty"`        // "arguments", then "parameters"
	ID        string `yaml:"id,omitempty"`          // a key whose value is the call's id
	NameIsKey bool   `yaml:"name_is_key,omitempty"` // {"tool": {…}}
	Container string `yaml:"container,omitempty"`   // object, list or lines, as templates print it; all are read
}

// Values say how templates print values; what is read is more than that.
type Values struct {
	String  string `yaml:"string,omitempty"`  // raw, json, python, delimited
	Scalar  string `yaml:"scalar,omitempty"`  // json, python
	Object  string `yaml:"object,omitempty"`  // json, python, nested
	Null    string `yaml:"null,omitempty"`    // json, python, omitted
	Quote   string `yaml:"quote,omitempty"`   // the delimiter of pseudo_json strings
	Untyped string `yaml:"untyped,omitempty"` // of a key without schema: "" containers only, "json" any JSON
}

// Frame is the form of messages, for channels: Open, a header, Body, the body,
// and one of End. Channels and recipients in the header say what the body is.
type Frame struct {
	Open      Marks             `yaml:"open"`                // begins a message behind the first
	Channel   string            `yaml:"channel,omitempty"`   // stands before the channel's name: "<|channel|>"
	Recipient string            `yaml:"recipient,omitempty"` // stands before the recipient: "to="
	Body      Marks             `yaml:"body"`                // ends the header
	End       Marks             `yaml:"end,omitempty"`       // ends a message
	Roles     map[string]string `yaml:"roles,omitempty"`     // channel, recipient or marker of the body → "reasoning", "content", "call"; any other recipient is a tool
	Content   Grammar           `yaml:"content,omitempty"`   // of the body of a call that its header names; JSON when ""
}

// Reasoning is how thinking is told from the visible answer.
type Reasoning struct {
	Open     Marks             `yaml:"open,omitempty"`
	Close    Marks             `yaml:"close"`
	Anywhere bool              `yaml:"anywhere,omitempty"`     // it may open behind visible text too; else at the start only
	Always   bool              `yaml:"always,omitempty"`       // an answer begins in it whatever the prompt's end
	Field    string            `yaml:"field,omitempty"`        // of messages, that the template reads
	Tails    map[string]string `yaml:"prompt_tails,omitempty"` // what a prompt ends with, by mode: default, on, off
	History  History           `yaml:"history,omitempty"`
}

// History is what a template does with the reasoning of earlier turns.
type History struct {
	AfterUser string `yaml:"after_user,omitempty"` // kept or dropped once a user has spoken
	InLoop    string `yaml:"in_loop,omitempty"`    // kept or dropped while tools answer
	Flag      string `yaml:"flag,omitempty"`       // the template's variable that changes AfterUser, as name=value
}

// Tokens are facts about the vocabulary.
type Tokens struct {
	NeedSpecial bool     `yaml:"need_special,omitempty"` // markers are special tokens: decode with them
	Stop        []string `yaml:"stop,omitempty"`         // texts that end a turn
	Strip       []string `yaml:"strip,omitempty"`        // texts that are dropped wherever they stand outside values
}

// Prefix says whether prompts of one conversation begin with each other: Y or
// n for after a call, after its result, after a new question; "-" unknown.
type Prefix struct {
	On  string `yaml:"on,omitempty"`  // with reasoning
	Off string `yaml:"off,omitempty"` // without
}

// Evidence says what a generated spec rests on.
type Evidence struct {
	Template string `yaml:"template_sha256,omitempty"`
	Probes   int    `yaml:"probes,omitempty"`
	Verified string `yaml:"verified,omitempty"` // exact, typed, lossy, documented, unknown, none: package gen explains them
}
