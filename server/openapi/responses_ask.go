package openapi

// ResponsesAsk is a body of /v1/responses.
type ResponsesAsk struct {
	InputAsk
	MaxOutput *int      `json:"max_output_tokens,omitempty"`
	Store     *bool     `json:"store,omitempty" doc:"keep the response for previous_response_id; true unless said"`
	Include   *[]string `json:"include,omitempty"`
	TopProbs  *int      `json:"top_logprobs,omitempty"`
	CacheKey  *string   `json:"prompt_cache_key,omitempty" doc:"names the session"`
	Client    *Open     `json:"client_metadata,omitempty"`
}

// InputAsk is a body of /v1/responses/input_tokens: what makes the prompt.
type InputAsk struct {
	Asked
	Sampling
	Input        ResponsesInput  `json:"input,omitempty"`
	Instructions *string         `json:"instructions,omitempty"`
	Previous     *string         `json:"previous_response_id,omitempty" doc:"a stored response to go on from"`
	Tools        []ResponsesTool `json:"tools,omitempty"`
	ToolChoice   Any             `json:"tool_choice,omitempty" doc:"auto, none, required, or a tool's name in an object"`
	Parallel     *bool           `json:"parallel_tool_calls,omitempty"`
	Reasoning    *Reasoning      `json:"reasoning,omitempty"`
	Text         *TextConfig     `json:"text,omitempty"`
}

// ResponsesInput is a text or items.
type ResponsesInput struct{}

// Union returns what it may be.
func (ResponsesInput) Union() []any { return []any{"", []ResponsesItem{}, nil} }

// ResponsesItem is an item of an input; types have different fields.
type ResponsesItem struct {
	Open
	Type *string `json:"type,omitempty" doc:"message, reasoning, function_call, function_call_output, custom_tool_call, custom_tool_call_output"`
	ID   *string `json:"id,omitempty"`
}

// ResponsesTool is a tool on offer: a function, a free-text tool or a
// namespace; others are left out.
type ResponsesTool struct {
	Open
	Type        string           `json:"type"`
	Name        *string          `json:"name,omitempty"`
	Description *string          `json:"description,omitempty"`
	Parameters  *Open            `json:"parameters,omitempty"`
	Strict      *bool            `json:"strict,omitempty"`
	Tools       *[]ResponsesTool `json:"tools,omitempty"`
}

// Reasoning says how hard the model thinks, and whether that is told as a
// summary.
type Reasoning struct {
	Open
	Effort  *string `json:"effort,omitempty"`
	Summary *string `json:"summary,omitempty"`
}

// TextConfig says what form the text has.
type TextConfig struct {
	Open
	Format *TextFormat `json:"format,omitempty"`
}

// TextFormat is the form of the text.
type TextFormat struct {
	Open
	Type   string `json:"type" enum:"text|json_object|json_schema"`
	Schema Any    `json:"schema,omitempty"`
}
