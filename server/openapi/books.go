package openapi

// ModelList is the models that are served, in OpenAI's form and in
// Anthropic's.
type ModelList struct{}

// Union returns the forms.
func (ModelList) Union() []any { return []any{OpenAIModels{}, AnthropicModels{}} }

// Model is one model, in OpenAI's form or in Anthropic's.
type Model struct{}

// Union returns the forms.
func (Model) Union() []any { return []any{OpenAIModel{}, AnthropicModel{}} }

// OpenAIModels is OpenAI's list.
type OpenAIModels struct {
	Object string        `json:"object" enum:"list"`
	Data   []OpenAIModel `json:"data"`
}

// OpenAIModel is a model in OpenAI's form.
type OpenAIModel struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"model"`
	Created int    `json:"created"`
	Owner   string `json:"owned_by"`
	MaxLen  int    `json:"max_model_len,omitempty"`
	Context int    `json:"context_length,omitempty"`
}

// AnthropicModels is Anthropic's list.
type AnthropicModels struct {
	Data    []AnthropicModel `json:"data"`
	HasMore bool             `json:"has_more"`
	FirstID *string          `json:"first_id"`
	LastID  *string          `json:"last_id"`
}

// AnthropicModel is a model in Anthropic's form.
type AnthropicModel struct {
	Type    string `json:"type" enum:"model"`
	ID      string `json:"id"`
	Name    string `json:"display_name"`
	Created string `json:"created_at"`
	Input   int    `json:"max_input_tokens,omitempty"`
}

// Deleted says that something is gone.
type Deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// TokenizeAsk is a body of /tokenize: a prompt, or the fields of a chat
// completion.
type TokenizeAsk struct {
	Open
	Model    string        `json:"model"`
	Prompt   *string       `json:"prompt,omitempty"`
	Messages []ChatMessage `json:"messages,omitempty"`
	Tools    []ChatTool    `json:"tools,omitempty"`
	Strings  bool          `json:"return_token_strs,omitempty"`
}
