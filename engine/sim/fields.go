package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// maxComplaints bounds the complaints that one answer spells out.
const maxComplaints = 64

// fields reads typed values from a body and gathers complaints in the words
// of the validator that the copied server has in front. Values may be written
// as strings where that validator reads them. null is the default.
type fields struct {
	bad   []string
	count int
	first string // location of the first complaint
}

// complain notes one value that cannot be read. ctx is what the validator
// adds, or "".
func (f *fields) complain(kind, loc, msg, input, ctx string) {
	if f.count++; f.count == 1 {
		f.first = loc
	}
	if f.count > maxComplaints {
		return
	}
	line := fmt.Sprintf("{'type': '%s', 'loc': '%s', 'msg': '%s', 'input': '%s'", kind, loc, msg, input)
	if ctx != "" {
		line += ", 'ctx': " + ctx
	}
	f.bad = append(f.bad, line+"}")
}

// problem is the answer to all complaints, nil when there are none.
func (f *fields) problem() *problem {
	if f.count == 0 {
		return nil
	}
	noun := "errors"
	if f.count == 1 {
		noun = "error"
	}
	return &problem{
		400, fmt.Sprintf("%d validation %s:\n  %s", f.count, noun, strings.Join(f.bad, "\n  ")),
		"Bad Request", f.first,
	}
}

// integer reads a whole number.
func (f *fields) integer(name string, v gjson.Result, dflt int) int {
	loc := "body." + name
	switch v.Type {
	case gjson.Null:
		return dflt
	case gjson.Number:
		if v.Num == float64(int(v.Num)) {
			return int(v.Num)
		}
		f.complain("int_from_float", loc, "Input should be a valid integer, got a number with a fractional part", v.Raw, "")
	case gjson.String:
		if n, err := strconv.Atoi(v.Str); err == nil {
			return n
		}
		f.complain("int_parsing", loc, "Input should be a valid integer, unable to parse string as an integer", v.Str, "")
	default:
		f.complain("int_type", loc, "Input should be a valid integer", shown(v), "")
	}
	return dflt
}

// number reads a number.
func (f *fields) number(name string, v gjson.Result, dflt float64) float64 {
	loc := "body." + name
	switch v.Type {
	case gjson.Null:
		return dflt
	case gjson.Number:
		return v.Num
	case gjson.String:
		if n, err := strconv.ParseFloat(v.Str, 64); err == nil {
			return n
		}
		f.complain("float_parsing", loc, "Input should be a valid number, unable to parse string as a number", v.Str, "")
	default:
		f.complain("float_type", loc, "Input should be a valid number", shown(v), "")
	}
	return dflt
}

// boolean reads true or false.
func (f *fields) boolean(name string, v gjson.Result, dflt bool) bool {
	switch {
	case v.Type == gjson.Null:
		return dflt
	case v.Type == gjson.True || v.Type == gjson.False:
		return v.Bool()
	case v.Raw == "1" || v.Raw == "0":
		return v.Raw == "1"
	}
	f.complain("bool_type", "body."+name, "Input should be a valid boolean", shown(v), "")
	return dflt
}

// text reads a string.
func (f *fields) text(name string, v gjson.Result) string {
	switch v.Type {
	case gjson.Null:
		return ""
	case gjson.String:
		return v.Str
	}
	f.complain("string_type", "body."+name, "Input should be a valid string", shown(v), "")
	return ""
}

// texts reads a string or a list of strings.
func (f *fields) texts(name string, v gjson.Result) (list []string) {
	if !v.IsArray() {
		if s := f.text(name, v); s != "" || v.Type == gjson.String {
			list = []string{s}
		}
		return list
	}
	for i, e := range v.Array() {
		list = append(list, f.text(name+"."+strconv.Itoa(i), e))
	}
	return list
}

// ids reads a list of token ids.
func (f *fields) ids(name string, v gjson.Result) (list []uint32) {
	if v.Type == gjson.Null {
		return nil
	}
	if !v.IsArray() {
		f.complain("list_type", "body."+name, "Input should be a valid list", shown(v), "")
		return nil
	}
	for i, e := range v.Array() {
		n := f.integer(name+"."+strconv.Itoa(i), e, 0)
		list = append(list, uint32(max(n, 0)))
	}
	return list
}

// shown is a value as the validator prints it.
func shown(v gjson.Result) string {
	switch {
	case v.IsArray():
		return fmt.Sprintf("<list of %d items>", len(v.Array()))
	case v.IsObject():
		return fmt.Sprintf("<dict of %d items>", len(v.Map()))
	case v.Type == gjson.String:
		return v.Str
	case v.Type == gjson.True:
		return "True"
	case v.Type == gjson.False:
		return "False"
	case v.Type == gjson.Null:
		return "None"
	}
	return v.Raw
}

// float is a number as Python prints it.
func float(n float64) string {
	s := strconv.FormatFloat(n, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
