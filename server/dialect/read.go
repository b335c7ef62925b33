package dialect

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// reader reads fields of a client's document and keeps the first problem it
// meets. A field that is absent or null reads as the zero value; one of
// another type is a problem. Callers go on and ask for the problem at the
// end, loops stop at it.
type reader struct {
	dialect turn.Dialect
	header  func(string) string
	memo    *memo // nil without a Recall
	fault   *Problem
	asks    int         // cache_control fields so far
	known   []turn.Tool // the turn's tools, by which replayed calls find their flat names
	offer   offer

	room  []turn.Block // see allot
	inner []turn.Block // of the content that is read inside a result
}

// offer is what the client's list of tools looks like.
type offer struct {
	tools  int  // all, hosted ones too
	search bool // the last one is a hosted web search
}

func (o *offer) see(v tape.Value) {
	o.tools++
	o.search = strings.HasPrefix(v.Key("type").Text(), searchTool)
}

// as returns r for a dialect.
func (r *reader) as(d turn.Dialect) *reader {
	r.dialect = d
	return r
}

// parse reads the body's root, which must be an object.
func (r *reader) parse(body []byte) (*tape.Doc, *Problem) {
	var doc *tape.Doc
	var err error
	if r.memo != nil {
		doc, err = tape.ParseKnown(body, r.memo.look)
	} else {
		doc, err = tape.Parse(body)
	}
	if err != nil {
		var e *tape.Error
		errors.As(err, &e)
		return nil, &Problem{Message: "invalid JSON: " + e.Error()}
	}
	if doc.Root().Kind() != tape.Object {
		doc.Free()
		return nil, &Problem{Message: "invalid JSON: the body must be an object"}
	}
	return doc, nil
}

func (r *reader) failed() bool { return r.fault != nil }

// fail notes a problem with a value.
func (r *reader) fail(v tape.Value, format string, args ...any) {
	r.report(v, "", fmt.Sprintf(format, args...))
}

// lacks notes that a field of an object is missing.
func (r *reader) lacks(object tape.Value, key string) {
	r.report(object, key, "field required")
}

func (r *reader) report(v tape.Value, key, message string) {
	if r.fault != nil {
		return
	}
	r.fault = &Problem{Message: message, Param: r.spell(v, key)}
}

// spell returns the place of a value, or of a field that it lacks, as the
// dialect's clients know it.
func (r *reader) spell(v tape.Value, key string) string {
	dots := r.dialect == turn.Messages // messages.0.content, else messages[0].content
	var b strings.Builder
	for _, s := range append(v.Path(), tape.Step{Key: key, Index: -1}) {
		switch {
		case s.Index >= 0 && !dots:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case s.Index >= 0:
			b.WriteString("." + strconv.Itoa(s.Index))
		case s.Key != "":
			b.WriteString("." + cut(s.Key))
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// field returns a field that is given and of kind k, or nothing.
func (r *reader) field(object tape.Value, key string, k tape.Kind) tape.Value {
	v := object.Key(key)
	if !v.Given() {
		return tape.Value{}
	}
	if v.Kind() != k {
		r.fail(v, "must be %s, not %s", kindName(k), kindName(v.Kind()))
		return tape.Value{}
	}
	return v
}

// text returns a string field.
func (r *reader) text(object tape.Value, key string) string {
	return r.field(object, key, tape.String).Text()
}

// needed returns a string field that must be given and not empty.
func (r *reader) needed(object tape.Value, key string) string {
	v := r.field(object, key, tape.String)
	if r.failed() {
		return ""
	}
	if v.Kind() == tape.None {
		r.lacks(object, key)
		return ""
	}
	s := v.Text()
	if s == "" {
		r.fail(v, "must not be empty")
	}
	return s
}

// flag returns a boolean field.
func (r *reader) flag(object tape.Value, key string) bool { return r.yes(object.Key(key)) }

// yes returns a boolean.
func (r *reader) yes(v tape.Value) bool {
	switch v.Kind() {
	case tape.True:
		return true
	case tape.None, tape.Null, tape.False:
	default:
		r.fail(v, "must be a boolean, not %s", kindName(v.Kind()))
	}
	return false
}

// whole returns an integer field between low and high, or nil.
func (r *reader) whole(object tape.Value, key string, low, high int64) *int64 {
	return r.wholeOf(object.Key(key), low, high)
}

// wholeOf returns an integer between low and high, what is over it as high; or
// nil.
func (r *reader) wholeOf(v tape.Value, low, high int64) *int64 {
	if !v.Given() {
		return nil
	}
	if v.Kind() != tape.Number {
		r.fail(v, "must be %s, not %s", kindName(tape.Number), kindName(v.Kind()))
		return nil
	}
	n, ok := v.Int()
	if f, _ := v.Float(); !ok && math.Abs(f) >= 1<<53 && f == math.Trunc(f) {
		n, ok = high, true // beyond 64 bits
		if f < 0 {
			n = math.MinInt64
		}
	}
	switch {
	case !ok:
		r.fail(v, "must be an integer, not %s", cut(string(v.Raw())))
		return nil
	case n < low:
		r.fail(v, "must be at least %d, not %d", low, n)
		return nil
	}
	n = min(n, high)
	return &n
}

// number returns a numeric field between low and high, or nil.
func (r *reader) number(object tape.Value, key string, low, high float64) *float64 {
	v := r.field(object, key, tape.Number)
	if v.Kind() == tape.None {
		return nil
	}
	f, ok := v.Float()
	if !ok || f < low || f > high {
		r.fail(v, "must be between %g and %g, not %s", low, high, cut(string(v.Raw())))
		return nil
	}
	return &f
}

// limit returns a token limit, at least 1, or 0 when it is not given.
func (r *reader) limit(object tape.Value, key string) int {
	n := r.whole(object, key, 1, maxTokens)
	if n == nil {
		return 0
	}
	return int(*n)
}

// maxTokens is where token limits are cut off; every model's context is less.
const maxTokens = 1 << 30

// kindName names a kind of value for people.
func kindName(k tape.Kind) string {
	return [...]string{
		"nothing", "null", "a boolean", "a boolean", "a number", "a string", "an array", "an object",
	}[k]
}

// cut bounds a client's text that is shown in a message.
func cut(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
