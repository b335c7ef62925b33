package openapi

// ChatAsk is a body of /v1/chat/completions.
type ChatAsk struct {
	Asked
	Sampling
	Messages      []ChatMessage  `json:"messages"`
	Tools         []ChatTool     `json:"tools,omitempty"`
	ToolChoice    Any            `json:"tool_choice,omitempty" doc:"auto, none, required, or a function's name in an object"`
	Parallel      *bool          `json:"parallel_tool_calls,omitempty"`
	MaxTokens     *int           `json:"max_tokens,omitempty"`
	MaxCompletion *int           `json:"max_completion_tokens,omitempty"`
	N             *int           `json:"n,omitempty" doc:"at most 16"`
	Stop          *Texts         `json:"stop,omitempty"`
	Format        *ChatFormat    `json:"response_format,omitempty"`
	Logprobs      *bool          `json:"logprobs,omitempty"`
	TopLogprobs   *int           `json:"top_logprobs,omitempty"`
	Effort        *string        `json:"reasoning_effort,omitempty"`
	Template      *Open          `json:"chat_template_kwargs,omitempty" doc:"enable_thinking"`
	StreamOptions *StreamOptions `json:"stream_options,omitempty"`
	CacheKey      *string        `json:"prompt_cache_key,omitempty" doc:"names the session"`
}

// ChatFormat says what form the text must have.
type ChatFormat struct {
	Open
	Type   string `json:"type" enum:"text|json_object|json_schema"`
	Schema Any    `json:"json_schema,omitempty"`
}

// ChatMessage is one message; roles have different fields.
type ChatMessage struct {
	Open
	Role      string        `json:"role" enum:"system|developer|user|assistant|tool"`
	Content   ChatContent   `json:"content,omitempty"`
	Reasoning *string       `json:"reasoning_content,omitempty"`
	Calls     *[]ChatCalled `json:"tool_calls,omitempty"`
	CallID    *string       `json:"tool_call_id,omitempty"`
	Keep      *CacheControl `json:"cache_control,omitempty"`
}

// ChatContent is a text, parts, or nothing.
type ChatContent struct{}

// Union returns what it may be.
func (ChatContent) Union() []any { return []any{"", []Part{}, nil} }

// Part is a part of a content; types have different fields.
type Part struct {
	Open
	Type string `json:"type"`
}

// ChatCalled is a call that is replayed.
type ChatCalled struct {
	Open
	ID       *string       `json:"id,omitempty"`
	Type     *string       `json:"type,omitempty"`
	Function *ChatFunction `json:"function,omitempty"`
}

// ChatFunction names a function and its arguments, JSON in a text.
type ChatFunction struct {
	Open
	Name      string  `json:"name"`
	Arguments *string `json:"arguments,omitempty"`
}

// ChatTool is a function on offer.
type ChatTool struct {
	Open
	Type     *string         `json:"type,omitempty"`
	Function *ChatDefinition `json:"function,omitempty"`
}

// ChatDefinition describes a function.
type ChatDefinition struct {
	Open
	Name        string  `json:"name"`
	Description *string `json:"description,omitempty"`
	Parameters  *Open   `json:"parameters,omitempty"`
	Strict      *bool   `json:"strict,omitempty"`
}

// ChatAnswer is a whole answer.
type ChatAnswer struct {
	ID      string       `json:"id"`
	Object  string       `json:"object" enum:"chat.completion"`
	Created int          `json:"created"`
	Model   string       `json:"model"`
	Choices []ChatChoice `json:"choices"`
	Usage   ChatUsage    `json:"usage"`
	Extra   *Extra       `json:"nvext,omitempty"`
}

// ChatChoice is one of the answers.
type ChatChoice struct {
	Index    int           `json:"index"`
	Message  ChatSaid      `json:"message"`
	Logprobs *ChatLogprobs `json:"logprobs"`
	Finish   string        `json:"finish_reason" enum:"stop|length|tool_calls"`
}

// ChatSaid is what the model said.
type ChatSaid struct {
	Role      string     `json:"role" enum:"assistant"`
	Content   *string    `json:"content"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Refusal   *string    `json:"refusal"`
	Calls     []ChatCall `json:"tool_calls,omitempty"`
}

// ChatCall is a call.
type ChatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type" enum:"function"`
	Function ChatCallBody `json:"function"`
}

// ChatCallBody names a function and its arguments, JSON in a text.
type ChatCallBody struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ChatChunk is an event of a stream.
type ChatChunk struct{}

// Union returns a piece and an error in its place.
func (ChatChunk) Union() []any { return []any{ChatPiece{}, OpenAIProblem{}} }

// ChatPiece is a piece of an answer.
type ChatPiece struct {
	ID      string            `json:"id"`
	Object  string            `json:"object" enum:"chat.completion.chunk"`
	Created int               `json:"created"`
	Model   string            `json:"model"`
	Choices []ChatPieceChoice `json:"choices"`
	Usage   *ChatUsage        `json:"usage,omitempty"`
	Extra   *Extra            `json:"nvext,omitempty"`
}

// ChatPieceChoice is a piece of one of the answers.
type ChatPieceChoice struct {
	Index    int           `json:"index"`
	Delta    ChatDelta     `json:"delta"`
	Logprobs *ChatLogprobs `json:"logprobs,omitempty"`
	Finish   *string       `json:"finish_reason"`
}

// ChatDelta is what a piece adds.
type ChatDelta struct {
	Role      string          `json:"role,omitempty"`
	Content   *string         `json:"content,omitempty"`
	Reasoning string          `json:"reasoning_content,omitempty"`
	Calls     []ChatCallDelta `json:"tool_calls,omitempty"`
}

// ChatCallDelta is what a piece adds to a call; the first of a call names it.
type ChatCallDelta struct {
	Index    int               `json:"index"`
	ID       string            `json:"id,omitempty"`
	Type     string            `json:"type,omitempty"`
	Function ChatFunctionDelta `json:"function"`
}

// ChatFunctionDelta is a piece of a call's arguments.
type ChatFunctionDelta struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// ChatLogprobs are log probabilities.
type ChatLogprobs struct {
	Content *[]TokenLogprob `json:"content"`
	Refusal *[]TokenLogprob `json:"refusal,omitempty"`
}

// TokenLogprob is how likely a token was.
type TokenLogprob struct {
	Token   string         `json:"token"`
	Logprob Number         `json:"logprob"`
	Bytes   *[]int         `json:"bytes"`
	Top     []TokenLogprob `json:"top_logprobs,omitempty"`
}

// ChatUsage counts tokens.
type ChatUsage struct {
	Prompt        int           `json:"prompt_tokens"`
	Output        int           `json:"completion_tokens"`
	Total         int           `json:"total_tokens"`
	PromptDetails PromptDetails `json:"prompt_tokens_details"`
	OutputDetails OutputDetails `json:"completion_tokens_details"`
}

// OutputDetails counts the tokens of an answer apart.
type OutputDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}
