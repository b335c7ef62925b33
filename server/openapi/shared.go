package openapi

// Number is a number with or without a fraction.
type Number = float64

// Texts is a text or several.
type Texts struct{}

// Union returns what it may be.
func (Texts) Union() []any { return []any{"", []string{}, nil} }

// Hints is what a harness knows of a turn and tells, beside the API's own
// fields.
type Hints struct {
	Open
	AgentHints   *AgentHints   `json:"agent_hints,omitempty"`
	CacheControl *CacheControl `json:"cache_control,omitempty" doc:"keep the whole prompt for a time"`
	Salt         string        `json:"cache_salt,omitempty"`
	Class        string        `json:"latency_class,omitempty" doc:"batch waits for all others"`
	Annotations  []string      `json:"annotations,omitempty" doc:"formatted_prompt, token_ids: told as events with a comment before a stream, else in the answer's nvext; query_instance_id: tells where the turn would run, and makes nothing"`
	Extra        []string      `json:"extra_fields,omitempty" doc:"what the answer's nvext is to tell: worker_id, timing, hit, stop_reason, completion_token_ids"`
	Strict       bool          `json:"strict,omitempty" doc:"unknown hints are an error"`
}

// AgentHints is what an agent tells of its turn.
type AgentHints struct {
	Open
	Priority int  `json:"priority,omitempty" doc:"higher goes first, by a second each"`
	Strict   int  `json:"strict_priority,omitempty" doc:"a higher one goes first, always"`
	OSL      int  `json:"osl,omitempty" doc:"tokens that the answer is expected to have"`
	Prefill  bool `json:"speculative_prefill,omitempty"`
}

// CacheControl asks for a prefix to be kept.
type CacheControl struct {
	Open
	Type string  `json:"type,omitempty"`
	TTL  *string `json:"ttl,omitempty" doc:"5m, 1h, 90s"`
}

// Extra is what an answer tells of itself where that was asked for.
type Extra struct {
	Worker *ExtraWorker `json:"worker_id,omitempty"`
	Timing *ExtraTiming `json:"timing,omitempty"`
	Hit    *ExtraHit    `json:"hit,omitempty"`
	Stop   string       `json:"stop_reason,omitempty"`
	IDs    []int        `json:"completion_token_ids,omitempty"`

	Prompt    string `json:"formatted_prompt,omitempty"`
	PromptIDs []int  `json:"token_ids,omitempty"`
}

// ExtraWorker says where an answer was made.
type ExtraWorker struct {
	Prefill string `json:"prefill_worker_id"`
	Decode  string `json:"decode_worker_id"`
}

// ExtraTiming says how long an answer took, in milliseconds; -1 is unknown.
type ExtraTiming struct {
	Received Number `json:"request_received_ms"`
	Queue    Number `json:"queue_time_ms"`
	TTFT     Number `json:"ttft_ms"`
	Total    Number `json:"total_time_ms"`
	ITL      Number `json:"avg_itl_ms"`
	HitRate  Number `json:"kv_hit_rate"`
}

// ExtraHit says what was cached, in tokens; -1 is unknown.
type ExtraHit struct {
	Prompt    int `json:"prompt_tokens"`
	Predicted int `json:"predicted_tokens"`
	Cached    int `json:"cached_tokens"`
}

// Sampling are the fields about sampling that the dialects share.
type Sampling struct {
	Temperature *Number `json:"temperature,omitempty"`
	TopP        *Number `json:"top_p,omitempty"`
	TopK        *int    `json:"top_k,omitempty"`
	MinP        *Number `json:"min_p,omitempty"`
	Seed        *int    `json:"seed,omitempty"`
	Presence    *Number `json:"presence_penalty,omitempty"`
	Frequency   *Number `json:"frequency_penalty,omitempty"`
	Repetition  *Number `json:"repetition_penalty,omitempty"`
	MinTokens   *int    `json:"min_tokens,omitempty"`
	StopIDs     []int   `json:"stop_token_ids,omitempty"`
	IgnoreEnd   bool    `json:"ignore_eos,omitempty"`
	KeepStop    *bool   `json:"include_stop_str_in_output,omitempty" doc:"the stop that was met is part of the text"`
	Bias        Any     `json:"logit_bias,omitempty"`
}

// Asked are fields that a request in any dialect may have.
type Asked struct {
	Open
	Model  string  `json:"model"`
	Stream *bool   `json:"stream,omitempty"`
	Hints  *Hints  `json:"nvext,omitempty"`
	Salt   *string `json:"cache_salt,omitempty"`
	Class  *string `json:"latency_class,omitempty"`
}

// OpenAIProblem is an error in OpenAI's form.
type OpenAIProblem struct {
	Error OpenAIError `json:"error"`
}

// OpenAIError is what is wrong.
type OpenAIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// AnthropicProblem is an error in Anthropic's form.
type AnthropicProblem struct {
	Type    string         `json:"type" enum:"error"`
	Error   AnthropicError `json:"error"`
	Request string         `json:"request_id,omitempty"`
}

// AnthropicError is what is wrong.
type AnthropicError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Problem is an error in the form of the client that asked: Anthropic's for
// those that send anthropic-version.
type Problem struct{}

// Union returns the forms.
func (Problem) Union() []any { return []any{OpenAIProblem{}, AnthropicProblem{}} }
