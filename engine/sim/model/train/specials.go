package main

// special is an added token of the model.
type special struct {
	content string
	hidden  bool // marks a turn's border and is no text of an answer
}

// specials are the added tokens, in the order of their ids, which come after
// those of the trained tokens. As in Qwen3's files, what a parser must see in
// an answer is added but not special.
var specials = []special{
	{"<|endoftext|>", true},
	{"<|im_start|>", true},
	{"<|im_end|>", true},
	{"<think>", false},
	{"</think>", false},
	{"<tool_call>", false},
	{"</tool_call>", false},
	{"<tool_response>", false},
	{"</tool_response>", false},
}
