package sim

import (
	"math"

	"github.com/tidwall/gjson"
)

// allThatFits as max_tokens is an explicit null.
const allThatFits = math.MinInt

// completion is the body of a completion request.
type completion struct {
	model     string
	requestID string
	ids       []uint32
	text      string
	problem   *problem // of the prompt

	maxTokens           int // or allThatFits
	minTokens           int
	ignoreEnd           bool
	stop                []string
	stopIDs             []uint32
	keepStop, skip      bool
	topK                int
	temperature, topP   float64
	minP                float64
	presence, frequency float64
	salt                *string
	priority            int
	report              bool

	stream, returnIDs bool
	streamOptions     bool
	usage, continuous bool
	refused           string // first field that asks for what is not done
}

// completionFields read the fields that matter; all others are ignored.
var completionFields = map[string]func(c *completion, f *fields, v gjson.Result){
	"model":      func(c *completion, f *fields, v gjson.Result) { c.model = f.text("model", v) },
	"request_id": func(c *completion, f *fields, v gjson.Result) { c.requestID = f.text("request_id", v) },
	"prompt": func(c *completion, f *fields, v gjson.Result) {
		c.ids, c.text, c.problem = f.prompt(v)
	},
	"max_tokens":          func(c *completion, f *fields, v gjson.Result) { c.maxTokens = f.integer("max_tokens", v, allThatFits) },
	"min_tokens":          func(c *completion, f *fields, v gjson.Result) { c.minTokens = f.integer("min_tokens", v, 0) },
	"ignore_eos":          func(c *completion, f *fields, v gjson.Result) { c.ignoreEnd = f.boolean("ignore_eos", v, false) },
	"stop":                func(c *completion, f *fields, v gjson.Result) { c.stop = f.texts("stop", v) },
	"stop_token_ids":      func(c *completion, f *fields, v gjson.Result) { c.stopIDs = f.ids("stop_token_ids", v) },
	"top_k":               func(c *completion, f *fields, v gjson.Result) { c.topK = f.integer("top_k", v, 0) },
	"temperature":         func(c *completion, f *fields, v gjson.Result) { c.temperature = f.number("temperature", v, 1) },
	"top_p":               func(c *completion, f *fields, v gjson.Result) { c.topP = f.number("top_p", v, 1) },
	"min_p":               func(c *completion, f *fields, v gjson.Result) { c.minP = f.number("min_p", v, 0) },
	"presence_penalty":    func(c *completion, f *fields, v gjson.Result) { c.presence = f.number("presence_penalty", v, 0) },
	"frequency_penalty":   func(c *completion, f *fields, v gjson.Result) { c.frequency = f.number("frequency_penalty", v, 0) },
	"priority":            func(c *completion, f *fields, v gjson.Result) { c.priority = f.integer("priority", v, 0) },
	"stream":              func(c *completion, f *fields, v gjson.Result) { c.stream = f.boolean("stream", v, false) },
	"return_token_ids":    func(c *completion, f *fields, v gjson.Result) { c.returnIDs = f.boolean("return_token_ids", v, false) },
	"skip_special_tokens": func(c *completion, f *fields, v gjson.Result) { c.skip = f.boolean("skip_special_tokens", v, true) },
	"include_stop_str_in_output": func(c *completion, f *fields, v gjson.Result) {
		c.keepStop = f.boolean("include_stop_str_in_output", v, false)
	},
	"cache_salt": func(c *completion, f *fields, v gjson.Result) {
		if s := f.text("cache_salt", v); v.Type == gjson.String {
			c.salt = &s
		}
	},
	"stream_options": func(c *completion, f *fields, v gjson.Result) {
		c.streamOptions = v.IsObject()
		c.usage = f.boolean("stream_options.include_usage", v.Get("include_usage"), false)
		c.continuous = f.boolean("stream_options.continuous_usage_stats", v.Get("continuous_usage_stats"), false)
	},
	"vllm_xargs": func(c *completion, _ *fields, v gjson.Result) {
		c.report = v.Get("kv_cache_report_mode").Str == "full"
	},
	"n":               refuse("n", "1"),
	"best_of":         refuse("best_of", "1"),
	"echo":            refuse("echo", "false"),
	"use_beam_search": refuse("use_beam_search", "false"),
	"response_format": refuse("response_format", `{"type":"text"}`),
	"logprobs":        refuse("logprobs"), "prompt_logprobs": refuse("prompt_logprobs"),
	"suffix": refuse("suffix"), "prompt_embeds": refuse("prompt_embeds"),
	"truncate_prompt_tokens": refuse("truncate_prompt_tokens"),
	"kv_transfer_params":     refuse("kv_transfer_params"),
	"structured_outputs":     refuse("structured_outputs"),
	"guided_json":            refuse("guided_json"), "guided_regex": refuse("guided_regex"),
	"guided_choice": refuse("guided_choice"), "guided_grammar": refuse("guided_grammar"),
}

// refuse makes the reader of a field that may only say what is done anyway.
func refuse(name string, neutral ...string) func(*completion, *fields, gjson.Result) {
	return func(c *completion, _ *fields, v gjson.Result) {
		for _, s := range append(neutral, "null") {
			if v.Raw == s {
				return
			}
		}
		if c.refused == "" {
			c.refused = name
		}
	}
}

// readCompletion reads a body that is a JSON object.
func readCompletion(body []byte) (*completion, *problem) {
	c := &completion{maxTokens: 16, temperature: 1, topP: 1, skip: true}
	var f fields
	gjson.ParseBytes(body).ForEach(func(key, v gjson.Result) bool {
		if read, ok := completionFields[key.Str]; ok {
			read(c, &f, v)
		}
		return true
	})
	if p := f.problem(); p != nil {
		return nil, p
	}
	return c, c.consistent()
}

// consistent checks what can be told from the body alone.
func (c *completion) consistent() *problem {
	switch {
	case c.streamOptions && !c.stream:
		return badValue("stream_options", "", "Stream options can only be defined when `stream=True`.")
	case c.salt != nil && *c.salt == "":
		return badValue("cache_salt", "", "Parameter 'cache_salt' must be a non-empty string if provided.")
	case c.problem == nil && len(c.ids) == 0 && c.text == "":
		return badValue("prompt", "", "Either prompt or prompt_embeds must be provided and non-empty.")
	}
	return nil
}
