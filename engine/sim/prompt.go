package sim

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// prompt reads a prompt in one of its forms: token ids, text, or a list with
// one of either. The result is the ids or the text.
func (f *fields) prompt(v gjson.Result) (ids []uint32, text string, err *problem) {
	switch {
	case v.Type == gjson.Null:
		return nil, "", nil
	case v.Type == gjson.String:
		return nil, v.Str, nil
	case !v.IsArray():
		f.noPrompt(v)
		return nil, "", nil
	}
	ids, ok := fastIDs(v.Raw)
	if ok {
		if len(ids) == 0 {
			return nil, "", bad("You must pass at least one prompt")
		}
		return ids, "", nil
	}
	list := v.Array()
	for _, e := range list {
		if !e.IsArray() && e.Type != gjson.String {
			f.noPrompt(v)
			return nil, "", nil
		}
	}
	if len(list) > 1 {
		return nil, "", unsupported("prompt")
	}
	return f.prompt(list[0])
}

// noPrompt complains as a validator does that has tried every form in turn.
func (f *fields) noPrompt(v gjson.Result) {
	list := v.Array()
	if !v.IsArray() {
		list = nil
		f.complain("list_type", "body.prompt", "Input should be a valid list", shown(v), "")
		f.complain("list_type", "body.prompt", "Input should be a valid list", shown(v), "")
	}
	at := func(i int) string { return "body.prompt." + strconv.Itoa(i) }
	for i, e := range list {
		if e.Type == gjson.Number && e.Num < 0 {
			f.complain("greater_than_equal", at(i), "Input should be greater than or equal to 0", e.Raw, "{'ge': 0}")
		} else {
			f.integer("prompt."+strconv.Itoa(i), e, 0)
		}
	}
	for i, e := range list {
		if !e.IsArray() {
			f.complain("list_type", at(i), "Input should be a valid list", shown(e), "")
		}
	}
	f.complain("string_type", "body.prompt", "Input should be a valid string", shown(v), "")
	for i, e := range list {
		if e.Type != gjson.String {
			f.complain("string_type", at(i), "Input should be a valid string", shown(e), "")
		}
	}
}

// fastIDs reads a JSON list of whole numbers; anything else in it is not ok.
// Prompts are long, and this is all that is done to each of their numbers.
func fastIDs(raw string) (ids []uint32, ok bool) {
	ids = make([]uint32, 0, len(raw)/5+1)
	var n uint64
	digits := 0
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case c >= '0' && c <= '9':
			if n = n*10 + uint64(c-'0'); n > 1<<32-1 {
				return nil, false
			}
			digits++
		case c == ',' || c == ']':
			if digits == 0 {
				return ids, c == ']' && len(ids) == 0
			}
			ids = append(ids, uint32(n))
			n, digits = 0, 0
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		default:
			return nil, false
		}
	}
	return ids, true
}
