package parsers

import "testing"

func TestHarmony(t *testing.T) {
	const tail = "<|end|><|start|>assistant"
	rows(t, "harmony", []row{
		{name: "defect 17: the recipient first", tail: tail, text: ` to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>`, want: `|f{"a": 1}`},
		{name: "the recipient last", tail: tail, text: `<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":1}<|call|>`, want: `|f{"a":1}`},
		{name: "glued", tail: tail, text: `<|channel|>commentary to=functions.f<|constrain|>json<|message|>{"a":1}`, want: `|f{"a":1}`},
		{name: "any channel", tail: tail, text: `<|channel|>final to=functions.f<|message|>{"a":1}`, want: `|f{"a":1}`},
		{name: "the channel is the recipient", tail: tail, text: `<|channel|>functions.f<|message|>{"a":1}`, want: `|f{"a":1}`},
		{name: "no prefix", tail: tail, text: `<|channel|>commentary to=f code<|message|>{"a":1}<|call|>`, want: `|f{"a":1}`},
		{name: "two channels", tail: tail, text: `<|channel|>commentary to=functions.f<|channel|>json<|message|>{"a":1}`, want: `|f{"a":1}`},
		{name: "a built-in tool", tail: tail, text: `<|channel|>analysis to=browser.search code<|message|>{"query":"x"}<|call|>`, want: `|browser.search{"query":"x"} unknown`},
		{name: "code", tail: tail, text: "<|channel|>analysis to=python code<|message|>print(\"<|call|>\")\n<|call|>", want: "|python{\"code\":\"print(\\\"<|call|>\\\")\\n\"} repaired"},
		{name: "no arguments", tail: tail, text: `<|channel|>commentary to=functions.now<|message|><|call|>`, want: `|now{}`},
		{name: "a preamble", tail: tail, text: `<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>`, want: `((so))I look.|now{}`},
		{name: "several thoughts", tail: tail, text: "<|channel|>analysis<|message|>one<|end|><|start|>assistant<|channel|>analysis<|message|>two<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>", want: "((one\n\ntwo))Yes."},
		{name: "no end", tail: tail, text: "<|channel|>analysis<|message|>one<|start|>assistant<|channel|>final<|message|>Yes.", want: "((one))Yes."},
		{name: "no beginning", tail: tail, text: "<|channel|>analysis<|message|>one<|end|><|channel|>final<|message|>Yes.", want: "((one))Yes."},
		{name: "neither", tail: tail, text: "<|channel|>analysis<|message|>one<|channel|>final<|message|>Yes.", want: "((one))Yes."},
		{name: "who speaks is glued to the end", tail: tail, text: "<|channel|>analysis<|message|>one<|end|>assistant<|channel|>final<|message|>Yes.", want: "((one))Yes."},
		{name: "the whole header", text: "<|start|>assistant<|channel|>final<|message|>Yes.", want: "Yes."},
		{name: "the prompt ends in a header", tail: "<|start|>assistant<|channel|>", text: "analysis<|message|>so", want: "((so))"},
		{name: "the prompt ends behind a header", tail: "<|start|>assistant<|channel|>final<|message|>", text: "Yes.", want: "Yes."},
		{name: "the prompt ends in a thought", tail: "<|start|>assistant<|channel|>analysis<|message|>", text: "so<|end|><|start|>assistant<|channel|>final<|message|>Yes.", want: "((so))Yes."},
		{name: "the prompt begins a call", tail: "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>", text: `{"a":1}<|call|>`, want: `|f{"a":1}`},
		{name: "the prompt begins a name", tail: "<|start|>assistant<|channel|>commentary to=functions.", text: `f <|constrain|>json<|message|>{"a":1}<|call|>`, want: `|f{"a":1}`},
		{name: "no header at all", tail: tail, text: "Hello there, you.", want: "Hello there, you."},
		{name: "one word", tail: tail, text: "Hello", want: "Hello"},
		{name: "text behind a call", tail: tail, text: `<|channel|>commentary to=functions.now<|message|>{}<|call|> and on`, want: ` and on|now{}`},
		{name: "a call in text is not read", tail: tail, text: "<|channel|>final<|message|>Use `<|channel|>` or <|end|> or <|start|>, or to=x.", want: "Use `<|channel|>` or <|end|> or <|start|>, or to=x."},
		{name: "markers in arguments", tail: tail, text: `<|channel|>commentary to=functions.f<|message|>{"a":"<|end|><|start|>assistant<|channel|>final<|message|>"}<|call|>`, want: `|f{"a":"<|end|><|start|>assistant<|channel|>final<|message|>"}`},
		{name: "a quote is missing", tail: tail, text: `<|channel|>commentary to=functions.f<|message|>{"a":"x<|call|>`, want: `|f{"a":"x"} repaired`},
		{name: "a brace is missing", tail: tail, text: `<|channel|>commentary to=functions.f<|message|>{"a":[1<|call|>`, want: `|f{"a":[1]} repaired`},
		{name: "a brace too many", tail: tail, text: `<|channel|>commentary to=functions.f<|message|>{"a":1}}<|call|>`, want: `|f{"a":1}`},
		{name: "a made up answer", tail: tail, text: `<|channel|>commentary to=functions.now<|message|>{}<|call|><|start|>functions.now to=assistant<|channel|>commentary<|message|>12:00<|end|>`, want: `12:00|now{}`},
		{name: "several calls", tail: tail, text: `<|channel|>commentary to=functions.now<|message|>{}<|call|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{"a":1}<|call|>`, want: `|now{}|f{"a":1}`},
	})
}

func TestMessages(t *testing.T) {
	rows(t, "beam", []row{
		{name: "several calls", tail: "<|start|>assistant", text: "<|channel|>analysis<|message|>so<|end|><|start|>assistant to=now<|channel|>analysis <|constrain|>xml<|message|><|end|><|start|>assistant to=say<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"text\">\n</rfl:parameter> <b>\n</rfl:parameter>\n<rfl:parameter name=\"n\">\n3\n</rfl:parameter><|call|>", want: `((so))|now{}|say{"text":"</rfl:parameter> <b>","n":3}`},
	})
	rows(t, "muse", []row{
		{name: "all kinds", tail: "<|start|>assistant", text: " to=self<|message|>so<|eom|><|start|>assistant to=user<|message|>I look.<|eom|><|start|>assistant to=say<|message|><atem:function_calls>\n<atem:invoke name=\"say\">\n<atem:parameter name=\"text\">12345</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>", want: `((so))I look.|say{"text":"12345"}`},
	})
	rows(t, "functionary32", []row{
		{name: "text and calls", tail: "\n\n>>>", text: "all\nI look.>>>f\n{\"a\": 1}>>>now\n{}<|eot_id|>", want: `I look.|f{"a": 1}|now{}`},
		{name: "an unknown tool", tail: "\n\n>>>", text: "g\n{\"a\": 1}", want: `|g{"a": 1} unknown`},
		{name: "prose", tail: "\n\n>>>", text: "all\n>>> x = 1\n>>>y\nno", want: ">>> x = 1\n>>>y\nno"},
		{name: "code", tail: "\n\n>>>", text: "python\nprint(1)\n", want: `|python{"code":"print(1)\n"} repaired`},
		{name: "no header", text: "Hello\nthere", want: "Hello\nthere"},
	})
	rows(t, "inkling", []row{
		{name: "all kinds", tail: "<|message_model|>", text: `<|content_thinking|>so<|end_message|><|message_model|><|content_text|>I look.<|end_message|><|message_model|>f<|content_invoke_tool_json|>{"args":{"a":1},"name":"f"}<|end_message|><|message_model|><|content_invoke_tool_json|>{"name":"now","args":{}}<|end_message|><|content_model_end_sampling|>`, want: `((so))I look.|f{"a":1}|now{}`},
		{name: "a thought goes on", tail: "<|message_model|><|content_thinking|>", text: "so<|end_message|><|message_model|><|content_text|>Yes.<|end_message|>", want: "((so))Yes."},
		{name: "a header less", tail: "<|message_model|>", text: "<|content_thinking|>so<|end_message|><|content_text|>Yes.", want: "((so))Yes."},
		{name: "no call", tail: "<|message_model|>", text: "<|content_invoke_tool_json|>nothing<|end_message|>", want: "nothing"},
	})
}
