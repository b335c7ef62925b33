package prompt

import (
	"fmt"
	"strings"
)

// foreign are marks of model families outside this version, most telling
// first. They serve to name what was found.
var foreign = []struct{ mark, family string }{
	{"<|start_header_id|>", "Llama 3"},
	{"<｜DSML｜", "DeepSeek DSML calls"},
	{"<｜User｜>", "DeepSeek"},
	{"<｜begin▁of▁sentence｜>", "DeepSeek"},
	{"<|channel|>", "gpt-oss (harmony)"},
	{"<start_of_turn>", "Gemma"},
	{"<|turn>", "Gemma 4"},
	{"<|tool_calls_section_begin|>", "Kimi"},
	{"<|open|>", "Kimi K3"},
	{"<minimax:tool_call>", "MiniMax"},
	{"<arg_key>", "GLM"},
	{"<seed:", "Seed-OSS"},
	{"<function=", "XML calls (Qwen3-Coder and later)"},
	{"[TOOL_CALLS]", "Mistral"},
	{"[INST]", "Llama 2 or Mistral"},
	{"<|START_OF_TURN_TOKEN|>", "Cohere"},
	{"<|start_of_role|>", "Granite"},
	{"<|vision_start|>", "a vision model's image placeholders"},
	{`"tokenizer_class": "LlamaTokenizer`, "Llama 2 or one built on it"},
}

// family names the foreign model family that text shows, or "".
func family(text string) string {
	for _, f := range foreign {
		if strings.Contains(text, f.mark) {
			return f.family
		}
	}
	return ""
}

// style is what differs between the templates of this family.
type style struct {
	system   string // default system text; "" is none
	gap      bool   // two line feeds before the tools even without system text
	intro    string // before the list of tools
	outro    string // after it, up to the end of the message
	kept     bool   // thinking is printed again inside a tool loop
	cut      bool   // inline thinking is cut from earlier answers
	switched bool   // thinking can be turned off
	opened   bool   // the generation prompt opens the think block
}

// atoms are all that a template of this family may print, besides its
// introductions and its default system text.
var atoms = strings.NewReplacer(
	"<|im_start|>", "", "<|im_end|>", "", "<think>", "", "</think>", "",
	"<tool_call>", "", "</tool_call>", "", "<tool_response>", "", "</tool_response>", "",
	"system", "", "assistant", "", "user", "", "tool", "", `"name": `, "", `"arguments": `, "",
)

// punctuation is what is left of known text.
const punctuation = "{}\", \n"

// accept reads what a chat template prints. The error names the reason why
// this version cannot print the same.
func accept(source string) (style, error) {
	if f := family(source); f != "" {
		return style{}, fmt.Errorf("the template looks made for %s; this version renders ChatML with hermes calls only", f)
	}
	for _, need := range []string{"<|im_start|>", "<|im_end|>", "<tools>", "<tool_call>", "<tool_response>", `arguments`, "tojson"} {
		if !strings.Contains(source, need) {
			return style{}, fmt.Errorf("the template holds no %s; this version renders ChatML with hermes calls only", need)
		}
	}
	for _, name := range []string{"bos_token", "strftime_now", "raise_exception"} {
		if strings.Contains(source, name) {
			return style{}, fmt.Errorf("the template uses %s, which this version does not know", name)
		}
	}
	texts := printed(source)
	st := style{
		kept:     strings.Contains(source, "reasoning_content"),
		cut:      strings.Contains(source, "split('</think>')") || strings.Contains(source, `split("</think>")`),
		switched: strings.Contains(source, "enable_thinking"),
	}
	if err := st.read(texts); err != nil {
		return style{}, err
	}
	if st.opened && (st.kept || st.switched) {
		return style{}, fmt.Errorf("the template both opens and switches thinking, which this version does not know")
	}
	return st, nil
}

// read takes introductions and default text from what is printed and checks
// that all else is known.
func (st *style) read(texts []string) error {
	const open, end = "<|im_start|>system\n", "<|im_end|>\n"
	for _, s := range texts {
		switch body := strings.TrimSuffix(strings.TrimPrefix(s, open), end); {
		case strings.HasSuffix(strings.TrimSpace(s), "<tools>"):
			intro := strings.TrimRight(body, "\n")
			st.gap = strings.HasPrefix(intro, "\n\n")
			st.intro = strings.TrimLeft(intro, "\n")
		case strings.Contains(s, "</tools>"):
			body, _, _ = strings.Cut(s, "<|im_end|>")
			st.outro = "\n" + strings.TrimLeft(body, "\n")
		case strings.HasPrefix(s, open) && strings.HasSuffix(s, end) && len(body) > 0:
			st.system = body
		case s == "<|im_start|>assistant\n<think>\n":
			st.opened = true
		}
	}
	if st.intro == "" || st.outro == "" {
		return fmt.Errorf("the template lists no tools between <tools> and </tools>")
	}
	for _, s := range texts {
		if strings.Contains(s, "tools>") || st.system != "" && strings.Contains(s, st.system) {
			continue
		}
		if rest := strings.Trim(atoms.Replace(s), punctuation); rest != "" {
			return fmt.Errorf("the template prints %.60q, which this version does not know", rest)
		}
	}
	return nil
}
