package openapi

// CompletionAsk is a body of /v1/completions.
type CompletionAsk struct {
	Asked
	Sampling
	Prompt        CompletionPrompt `json:"prompt"`
	MaxTokens     *int             `json:"max_tokens,omitempty"`
	N             *int             `json:"n,omitempty" doc:"answers to each prompt, at most 16"`
	Best          *int             `json:"best_of,omitempty" doc:"the n likeliest of so many answers are told; not with stream"`
	Echo          *bool            `json:"echo,omitempty" doc:"answers begin with their prompt; not with logprobs"`
	Suffix        *string          `json:"suffix,omitempty" doc:"refused unless empty"`
	Stop          *Texts           `json:"stop,omitempty"`
	Logprobs      *int             `json:"logprobs,omitempty"`
	StreamOptions *StreamOptions   `json:"stream_options,omitempty"`
}

// CompletionPrompt is a text or token ids, or a list of such.
type CompletionPrompt struct{}

// Union returns what it may be.
func (CompletionPrompt) Union() []any { return []any{"", []int{}, []OnePrompt{}} }

// OnePrompt is one of several prompts.
type OnePrompt struct{}

// Union returns what it may be.
func (OnePrompt) Union() []any { return []any{"", []int{}} }

// Completion is the answer, and a chunk of it.
type Completion struct{}

// Union returns an answer and an error in its place.
func (Completion) Union() []any { return []any{CompletionText{}, OpenAIProblem{}} }

// CompletionText is an answer or a chunk.
type CompletionText struct {
	ID      string             `json:"id"`
	Object  string             `json:"object" enum:"text_completion"`
	Created int                `json:"created"`
	Model   string             `json:"model"`
	Choices []CompletionChoice `json:"choices"`
	Usage   *CompletionUsage   `json:"usage,omitempty"`
	Extra   *Extra             `json:"nvext,omitempty"`
}

// CompletionChoice is one of the answers.
type CompletionChoice struct {
	Index  int                 `json:"index"`
	Text   string              `json:"text"`
	Probs  *CompletionLogprobs `json:"logprobs"`
	Finish *string             `json:"finish_reason"`
}

// CompletionLogprobs are log probabilities in the API's own form.
type CompletionLogprobs struct {
	Tokens []string            `json:"tokens"`
	Values []Number            `json:"token_logprobs"`
	Top    []map[string]Number `json:"top_logprobs"`
	Offset []int               `json:"text_offset"`
}

// CompletionUsage counts tokens.
type CompletionUsage struct {
	Prompt  int           `json:"prompt_tokens"`
	Output  int           `json:"completion_tokens"`
	Total   int           `json:"total_tokens"`
	Details PromptDetails `json:"prompt_tokens_details"`
}

// PromptDetails counts the tokens of a prompt apart.
type PromptDetails struct {
	Cached int `json:"cached_tokens"`
}

// StreamOptions ask for a chunk with the usage.
type StreamOptions struct {
	Open
	Usage *bool `json:"include_usage,omitempty"`
}
