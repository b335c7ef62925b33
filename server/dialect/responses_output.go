package dialect

import (
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// words are the names of the events about one kind of item. partAdded is ""
// for items without parts.
type words struct {
	prefix              string // of item ids
	partAdded, partDone string
	delta, done         string
	index               string // fields that say which part is meant
	field               string // that holds the whole text in done
}

var (
	messageWords = words{
		"msg_", "response.content_part.added", "response.content_part.done",
		"response.output_text.delta", "response.output_text.done",
		`,"content_index":0`, "text",
	}
	summaryWords = words{
		"rs_", "response.reasoning_summary_part.added", "response.reasoning_summary_part.done",
		"response.reasoning_summary_text.delta", "response.reasoning_summary_text.done",
		`,"summary_index":0`, "text",
	}
	thoughtWords = words{
		"rs_", "response.content_part.added", "response.content_part.done",
		"response.reasoning_text.delta", "response.reasoning_text.done",
		`,"content_index":0`, "text",
	}
	callWords = words{
		"fc_", "", "",
		"response.function_call_arguments.delta", "response.function_call_arguments.done",
		"", "arguments",
	}
	customWords = words{
		"ctc_", "", "",
		"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done",
		"", "input",
	}
)

// item is one output item while it is open.
type item struct {
	kind  turn.EventKind // Reasoning, Says or CallStart
	id    string
	words *words
	call  turn.Call
	tool  turn.Tool // of a call; only its names when it is not known
	free  freeText
	seal  seal
	logs  []byte // log probabilities of a message
}

// newItem returns the item of a block. Its id holds the response's and its
// number. Thinking that is not in the summary goes into the encrypted content
// too: Codex sends back no other.
func (e *responsesEncoder) newItem(b *block) item {
	i := item{kind: b.kind, words: &messageWords, call: b.call}
	switch {
	case b.kind == turn.Reasoning && e.summary:
		i.words = &summaryWords
	case b.kind == turn.Reasoning:
		i.words, i.seal.omitted = &thoughtWords, true
	case b.kind == turn.CallStart:
		i.words = &callWords
		i.call.ID = callID(b.call, turn.Responses)
		var known bool
		if i.tool, known = meant(e.tools, b.call.Name); !known {
			i.tool = turn.Tool{Name: b.call.Name, Bare: b.call.Name}
		}
		if i.tool.Custom {
			i.words = &customWords
		}
	}
	i.id = i.words.prefix + strings.TrimPrefix(e.id, "resp_") + "_" + strconv.Itoa(b.index)
	return i
}

// append appends the item; text is escaped. An item that is only added has no
// text and no parts yet.
func (i *item) append(dst []byte, status string, text []byte, whole bool) []byte {
	dst = append(append(append(dst, `{"id":"`...), i.id...), `","type":"`...)
	switch {
	case i.kind == turn.Reasoning:
		return i.appendThought(dst, status, text, whole)
	case i.kind == turn.CallStart:
		return i.appendCall(dst, status, text)
	}
	dst = append(append(append(dst, `message","status":"`...), status...), `","role":"assistant","content":[`...)
	if whole {
		dst = i.appendPart(dst, text)
	}
	return append(dst, "]}"...)
}

func (i *item) appendThought(dst []byte, status string, text []byte, whole bool) []byte {
	dst = append(append(append(dst, `reasoning","status":"`...), status...), `","summary":[`...)
	summary := i.words == &summaryWords
	if whole && summary {
		dst = i.appendPart(dst, text)
	}
	dst = append(dst, ']')
	if !summary {
		dst = append(dst, `,"content":[`...)
		if whole {
			dst = i.appendPart(dst, text)
		}
		dst = append(dst, ']')
	}
	if !whole {
		return append(dst, `,"encrypted_content":null}`...)
	}
	dst = append(dst, `,"encrypted_content":"`...)
	return append(i.seal.append(dst), `"}`...)
}

func (i *item) appendCall(dst []byte, status string, text []byte) []byte {
	kind := "function_call"
	if i.tool.Custom {
		kind = "custom_tool_call"
	}
	dst = append(append(append(dst, kind...), `","status":"`...), status...)
	dst = appendString(append(dst, `","call_id":`...), i.call.ID)
	dst = appendString(append(dst, `,"name":`...), i.tool.Bare)
	if i.tool.Namespace != "" {
		dst = appendString(append(dst, `,"namespace":`...), i.tool.Namespace)
	}
	dst = append(append(append(dst, `,"`...), i.words.field...), `":"`...)
	return append(append(dst, text...), `"}`...)
}

// appendPart appends the one part that a message or a thought has.
func (i *item) appendPart(dst, text []byte) []byte {
	kind, rest := "output_text", `","annotations":[],"logprobs":[`
	switch i.words {
	case &summaryWords:
		kind, rest = "summary_text", `"}`
	case &thoughtWords:
		kind, rest = "reasoning_text", `"}`
	}
	dst = append(append(append(dst, `{"type":"`...), kind...), `","text":"`...)
	dst = append(append(dst, text...), rest...)
	if i.words == &messageWords {
		dst = append(append(dst, i.logs...), "]}"...)
	}
	return dst
}
