package openapi

// Response is a response as it stands.
type Response struct {
	ID         string         `json:"id"`
	Object     string         `json:"object" enum:"response"`
	Created    int            `json:"created_at"`
	Status     string         `json:"status" enum:"completed|incomplete|failed|in_progress"`
	Background bool           `json:"background"`
	Error      *Failure       `json:"error"`
	Incomplete *Incomplete    `json:"incomplete_details"`
	Model      string         `json:"model"`
	Output     []OutputItem   `json:"output"`
	Previous   *string        `json:"previous_response_id"`
	Store      bool           `json:"store"`
	Usage      *ResponseUsage `json:"usage"`
	Extra      *Extra         `json:"nvext,omitempty"`
	Echo
}

// Echo is the request's settings.
type Echo struct {
	Instructions Any `json:"instructions"`
	MaxOutput    Any `json:"max_output_tokens"`
	MaxCalls     Any `json:"max_tool_calls,omitempty"`
	Metadata     Any `json:"metadata"`
	Parallel     Any `json:"parallel_tool_calls"`
	CacheKey     Any `json:"prompt_cache_key,omitempty"`
	Reasoning    Any `json:"reasoning"`
	Safety       Any `json:"safety_identifier,omitempty"`
	Tier         Any `json:"service_tier,omitempty"`
	Temperature  Any `json:"temperature"`
	Text         Any `json:"text"`
	ToolChoice   Any `json:"tool_choice"`
	Tools        Any `json:"tools"`
	TopLogprobs  Any `json:"top_logprobs,omitempty"`
	TopP         Any `json:"top_p"`
	Truncation   Any `json:"truncation"`
	User         Any `json:"user,omitempty"`
}

// ShortResponse is a sign of life: who it is.
type ShortResponse struct {
	ID      string       `json:"id"`
	Object  string       `json:"object" enum:"response"`
	Created int          `json:"created_at"`
	Status  string       `json:"status" enum:"in_progress"`
	Model   string       `json:"model"`
	Output  []OutputItem `json:"output"`
}

// Failure is why a response failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Incomplete is why a response is cut.
type Incomplete struct {
	Reason string `json:"reason"`
}

// ResponseUsage counts tokens.
type ResponseUsage struct {
	Input         int           `json:"input_tokens"`
	InputDetails  PromptDetails `json:"input_tokens_details"`
	Output        int           `json:"output_tokens"`
	OutputDetails OutputDetails `json:"output_tokens_details"`
	Total         int           `json:"total_tokens"`
}

// OutputItem is an item of a response.
type OutputItem struct{}

// Union returns its kinds.
func (OutputItem) Union() []any {
	return []any{MessageItem{}, ReasoningItem{}, CallItem{}, CustomCallItem{}}
}

// MessageItem is text.
type MessageItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type" enum:"message"`
	Status  string       `json:"status"`
	Role    string       `json:"role" enum:"assistant"`
	Content []OutputPart `json:"content"`
}

// OutputPart is the part of a message or of a thought.
type OutputPart struct{}

// Union returns its kinds.
func (OutputPart) Union() []any { return []any{OutputText{}, ThoughtText{}} }

// OutputText is the text of a message.
type OutputText struct {
	Type        string         `json:"type" enum:"output_text"`
	Text        string         `json:"text"`
	Annotations []Any          `json:"annotations"`
	Logprobs    []TokenLogprob `json:"logprobs"`
}

// ThoughtText is the text of a thought, or of its summary.
type ThoughtText struct {
	Type string `json:"type" enum:"reasoning_text|summary_text"`
	Text string `json:"text"`
}

// ReasoningItem is thinking; it is to be sent back as it is.
type ReasoningItem struct {
	ID        string         `json:"id"`
	Type      string         `json:"type" enum:"reasoning"`
	Status    string         `json:"status"`
	Summary   []ThoughtText  `json:"summary"`
	Content   *[]ThoughtText `json:"content,omitempty"`
	Encrypted *string        `json:"encrypted_content"`
}

// CallItem is a call of a function.
type CallItem struct {
	ID        string `json:"id"`
	Type      string `json:"type" enum:"function_call"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Arguments string `json:"arguments"`
}

// CustomCallItem is a call of a free-text tool.
type CustomCallItem struct {
	ID        string `json:"id"`
	Type      string `json:"type" enum:"custom_tool_call"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Input     string `json:"input"`
}

// ResponsesEvent is an event of a stream.
type ResponsesEvent struct{}

// Union returns its kinds.
func (ResponsesEvent) Union() []any {
	return []any{ResponseEvent{}, LifeEvent{}, ItemEvent{}, PartEvent{}, TextDeltaEvent{}, TextDoneEvent{}, DataDeltaEvent{}, DataDoneEvent{}}
}

// ResponseEvent tells how the response stands.
type ResponseEvent struct {
	Type     string   `json:"type" enum:"response.created|response.completed|response.failed|response.incomplete"`
	Seq      int      `json:"sequence_number"`
	Response Response `json:"response"`
}

// LifeEvent begins a response, and comes again as a sign of life.
type LifeEvent struct {
	Type     string       `json:"type" enum:"response.in_progress"`
	Seq      int          `json:"sequence_number"`
	Response LifeResponse `json:"response"`
}

// LifeResponse is the response in whole or in short.
type LifeResponse struct{}

// Union returns the forms.
func (LifeResponse) Union() []any { return []any{Response{}, ShortResponse{}} }

// ItemEvent begins or ends an item.
type ItemEvent struct {
	Type  string     `json:"type" enum:"response.output_item.added|response.output_item.done"`
	Seq   int        `json:"sequence_number"`
	Index int        `json:"output_index"`
	Item  OutputItem `json:"item"`
}

// AboutItem is what events about the open item have.
type AboutItem struct {
	Seq     int    `json:"sequence_number"`
	Item    string `json:"item_id"`
	Index   int    `json:"output_index"`
	Content *int   `json:"content_index,omitempty"`
	Summary *int   `json:"summary_index,omitempty"`
}

// PartEvent begins or ends a part of an item.
type PartEvent struct {
	Type string `json:"type" enum:"response.content_part.added|response.content_part.done|response.reasoning_summary_part.added|response.reasoning_summary_part.done"`
	AboutItem
	Part OutputPart `json:"part"`
}

// TextDeltaEvent adds text to a message.
type TextDeltaEvent struct {
	Type string `json:"type" enum:"response.output_text.delta"`
	AboutItem
	Delta    string         `json:"delta"`
	Logprobs []TokenLogprob `json:"logprobs"`
}

// TextDoneEvent repeats the text of a message.
type TextDoneEvent struct {
	Type string `json:"type" enum:"response.output_text.done"`
	AboutItem
	Text     string         `json:"text"`
	Logprobs []TokenLogprob `json:"logprobs"`
}

// DataDeltaEvent adds to thinking or to a call.
type DataDeltaEvent struct {
	Type string `json:"type" enum:"response.reasoning_summary_text.delta|response.reasoning_text.delta|response.function_call_arguments.delta|response.custom_tool_call_input.delta"`
	AboutItem
	Delta string `json:"delta"`
}

// DataDoneEvent repeats thinking or a call's arguments.
type DataDoneEvent struct {
	Type string `json:"type" enum:"response.reasoning_summary_text.done|response.reasoning_text.done|response.function_call_arguments.done|response.custom_tool_call_input.done"`
	AboutItem
	Name      *string `json:"name,omitempty"`
	Text      *string `json:"text,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Input     *string `json:"input,omitempty"`
}
