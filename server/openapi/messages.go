package openapi

// MessagesAsk is a body of /v1/messages.
type MessagesAsk struct {
	CountAsk
	MaxTokens int `json:"max_tokens"`
}

// CountAsk is a body of /v1/messages/count_tokens: that of /v1/messages
// without its limit.
type CountAsk struct {
	Asked
	Sampling
	System       MessagesContent `json:"system,omitempty"`
	Messages     []AnyMessage    `json:"messages"`
	Tools        []MessagesTool  `json:"tools,omitempty"`
	ToolChoice   *MessagesChoice `json:"tool_choice,omitempty"`
	StopTexts    *[]string       `json:"stop_sequences,omitempty"`
	Thinking     *Thinking       `json:"thinking,omitempty"`
	OutputConfig *OutputConfig   `json:"output_config,omitempty"`
	Metadata     *Open           `json:"metadata,omitempty" doc:"user_id names the session"`
	Keep         *CacheControl   `json:"cache_control,omitempty" doc:"keep the whole prompt for a time"`
}

// MessagesContent is a text or blocks.
type MessagesContent struct{}

// Union returns what it may be.
func (MessagesContent) Union() []any { return []any{"", []Part{}, nil} }

// AnyMessage is one message of a conversation.
type AnyMessage struct {
	Open
	Role    string          `json:"role" enum:"user|assistant|system"`
	Content MessagesContent `json:"content"`
}

// MessagesTool is a tool on offer; hosted ones have a type and no schema.
type MessagesTool struct {
	Open
	Name        string        `json:"name"`
	Type        *string       `json:"type,omitempty"`
	Description *string       `json:"description,omitempty"`
	Schema      *Open         `json:"input_schema,omitempty"`
	Deferred    *bool         `json:"defer_loading,omitempty" doc:"hidden from the model until a tool_reference names it"`
	Strict      *bool         `json:"strict,omitempty"`
	Keep        *CacheControl `json:"cache_control,omitempty"`
}

// MessagesChoice says whether the model may, must or must not call.
type MessagesChoice struct {
	Open
	Type   string  `json:"type" enum:"auto|any|tool|none"`
	Name   *string `json:"name,omitempty"`
	Single *bool   `json:"disable_parallel_tool_use,omitempty"`
}

// Thinking says whether the model thinks.
type Thinking struct {
	Open
	Type    string  `json:"type"`
	Budget  *int    `json:"budget_tokens,omitempty"`
	Display *string `json:"display,omitempty" doc:"omitted: thinking comes back as a signature alone"`
}

// OutputConfig says how hard the model thinks and what form its text has.
type OutputConfig struct {
	Open
	Effort *string         `json:"effort,omitempty"`
	Format *MessagesFormat `json:"format,omitempty"`
}

// MessagesFormat is the form of the text.
type MessagesFormat struct {
	Open
	Type   string `json:"type"`
	Schema Any    `json:"schema,omitempty"`
}

// Message is a whole answer.
type Message struct {
	ID       string        `json:"id"`
	Type     string        `json:"type" enum:"message"`
	Role     string        `json:"role" enum:"assistant"`
	Model    string        `json:"model"`
	Content  []Block       `json:"content"`
	Stop     *string       `json:"stop_reason"`
	StopText *string       `json:"stop_sequence"`
	Usage    MessagesUsage `json:"usage"`
	Extra    *Extra        `json:"nvext,omitempty"`
}

// Block is a piece of an answer.
type Block struct{}

// Union returns its kinds.
func (Block) Union() []any { return []any{TextBlock{}, ThinkingBlock{}, UseBlock{}} }

// TextBlock is text.
type TextBlock struct {
	Type string `json:"type" enum:"text"`
	Text string `json:"text"`
}

// ThinkingBlock is thinking; its signature is to be sent back as it is.
type ThinkingBlock struct {
	Type      string `json:"type" enum:"thinking"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// UseBlock is a call.
type UseBlock struct {
	Type  string `json:"type" enum:"tool_use"`
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input Open   `json:"input"`
}

// MessagesUsage counts tokens; the first three add up to the prompt.
type MessagesUsage struct {
	Input    int              `json:"input_tokens"`
	Made     int              `json:"cache_creation_input_tokens"`
	Read     int              `json:"cache_read_input_tokens"`
	Creation CacheCreation    `json:"cache_creation"`
	Output   int              `json:"output_tokens"`
	Details  *ThinkingDetails `json:"output_tokens_details,omitempty"`
	Tier     string           `json:"service_tier"`
}

// CacheCreation splits what was newly cached by how long it is asked for.
type CacheCreation struct {
	Short int `json:"ephemeral_5m_input_tokens"`
	Long  int `json:"ephemeral_1h_input_tokens"`
}

// ThinkingDetails counts the tokens of thinking.
type ThinkingDetails struct {
	Thinking int `json:"thinking_tokens"`
}

// MessagesEvent is an event of a stream.
type MessagesEvent struct{}

// Union returns its kinds.
func (MessagesEvent) Union() []any {
	return []any{MessageStart{}, BlockStart{}, BlockDelta{}, BlockStop{}, MessageDelta{}, MessageStop{}, AnthropicProblem{}}
}

// MessageStart begins an answer.
type MessageStart struct {
	Type    string  `json:"type" enum:"message_start"`
	Message Message `json:"message"`
}

// BlockStart begins a block.
type BlockStart struct {
	Type  string `json:"type" enum:"content_block_start"`
	Index int    `json:"index"`
	Block Block  `json:"content_block"`
}

// BlockDelta adds to the open block.
type BlockDelta struct {
	Type  string `json:"type" enum:"content_block_delta"`
	Index int    `json:"index"`
	Delta Delta  `json:"delta"`
}

// Delta is what is added to a block.
type Delta struct{}

// Union returns its kinds.
func (Delta) Union() []any {
	return []any{TextDelta{}, ThinkingDelta{}, SignatureDelta{}, InputDelta{}}
}

// TextDelta adds text.
type TextDelta struct {
	Type string `json:"type" enum:"text_delta"`
	Text string `json:"text"`
}

// ThinkingDelta adds thinking.
type ThinkingDelta struct {
	Type     string `json:"type" enum:"thinking_delta"`
	Thinking string `json:"thinking"`
}

// SignatureDelta gives a thinking block its signature.
type SignatureDelta struct {
	Type      string `json:"type" enum:"signature_delta"`
	Signature string `json:"signature"`
}

// InputDelta adds to the arguments of a call.
type InputDelta struct {
	Type    string `json:"type" enum:"input_json_delta"`
	Partial string `json:"partial_json"`
}

// BlockStop ends a block.
type BlockStop struct {
	Type  string `json:"type" enum:"content_block_stop"`
	Index int    `json:"index"`
}

// MessageDelta says why an answer ended, with its true usage.
type MessageDelta struct {
	Type  string        `json:"type" enum:"message_delta"`
	Delta MessageEnd    `json:"delta"`
	Usage MessagesUsage `json:"usage"`
	Extra *Extra        `json:"nvext,omitempty"`
}

// MessageEnd says why an answer ended.
type MessageEnd struct {
	Stop     *string `json:"stop_reason"`
	StopText *string `json:"stop_sequence"`
}

// MessageStop ends a stream, and ping is a sign of life.
type MessageStop struct {
	Type string `json:"type" enum:"message_stop|ping"`
}
