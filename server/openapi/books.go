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
	Codex  []CodexModel  `json:"models" doc:"the same models, as Codex's catalog wants them"`
}

// CodexModel is a model in Codex's catalog.
type CodexModel struct {
	Slug         string     `json:"slug"`
	Name         string     `json:"display_name"`
	Shell        string     `json:"shell_type"`
	Visibility   string     `json:"visibility"`
	Supported    bool       `json:"supported_in_api"`
	Priority     int        `json:"priority"`
	Truncation   Truncation `json:"truncation_policy"`
	Instructions string     `json:"base_instructions"`
	Verbosity    bool       `json:"support_verbosity"`
	Levels       []Any      `json:"supported_reasoning_levels"`
	Experimental []Any      `json:"experimental_supported_tools"`
	Parallel     bool       `json:"supports_parallel_tool_calls"`
	Summaries    bool       `json:"supports_reasoning_summaries"`
	Context      int        `json:"context_window,omitempty"`
	Modalities   []string   `json:"input_modalities"`
}

// Truncation is how much of a tool's output Codex keeps.
type Truncation struct {
	Mode  string `json:"mode"`
	Limit int    `json:"limit"`
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
	Model    *string       `json:"model,omitempty" doc:"may be left out where one model is served"`
	Prompt   *string       `json:"prompt,omitempty"`
	Messages []ChatMessage `json:"messages,omitempty"`
	Tools    []ChatTool    `json:"tools,omitempty"`
	Opening  *bool         `json:"add_generation_prompt,omitempty" doc:"of messages: what opens the answer too; default true"`
	Strings  bool          `json:"return_token_strs,omitempty"`
}

// DetokenizeAsk is a body of /detokenize.
type DetokenizeAsk struct {
	Open
	Model  *string `json:"model,omitempty"`
	Tokens []int   `json:"tokens"`
}
