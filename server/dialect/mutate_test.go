package dialect

import (
	"math/rand/v2"
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
)

// mutator changes bodies at random. It belongs to one goroutine.
type mutator struct {
	rand   *rand.Rand
	bodies [][]byte
	spans  [][]span // of the values of each body
}

// span is where a value stands.
type span struct{ start, end int }

// newMutator returns a mutator of the requests' bodies.
func newMutator(seed uint64, requests []recorded) *mutator {
	m := &mutator{rand: rand.New(rand.NewPCG(seed, 0))}
	for i := range requests {
		m.bodies = append(m.bodies, requests[i].body)
		m.spans = append(m.spans, spansOf(requests[i].body))
	}
	return m
}

// next returns the number of a request, and its body with some changes.
func (m *mutator) next() (i int, body []byte) {
	i = m.rand.IntN(len(m.bodies))
	body = append([]byte(nil), m.bodies[i]...)
	for n := m.rand.IntN(3); n >= 0; n-- {
		if m.rand.IntN(8) == 0 {
			body = m.bytes(body)
			continue
		}
		body = m.value(body, m.spans[i])
	}
	return i, body
}

// value puts something else where a value stood; after a change before it, it
// may be inside another.
func (m *mutator) value(body []byte, spans []span) []byte {
	s := spans[m.rand.IntN(len(spans))]
	if s.end > len(body) {
		return body
	}
	with := pieces[m.rand.IntN(len(pieces))]
	switch m.rand.IntN(4) {
	case 0: // a value of any body
		j := m.rand.IntN(len(m.bodies))
		from := m.spans[j][m.rand.IntN(len(m.spans[j]))]
		with = string(m.bodies[j][from.start:from.end])
	case 1: // the value twice
		with = string(body[s.start:s.end]) + "," + string(body[s.start:s.end])
	}
	return splice(body, s.start, s.end, with)
}

// bytes cuts some bytes out, or writes over them.
func (m *mutator) bytes(body []byte) []byte {
	at := m.rand.IntN(len(body) + 1)
	end := min(at+m.rand.IntN(40), len(body))
	return splice(body, at, end, pieces[m.rand.IntN(len(pieces))])
}

func splice(body []byte, start, end int, with string) []byte {
	return append(append(append(make([]byte, 0, len(body)+len(with)), body[:start]...), with...), body[end:]...)
}

// pieces are values that clients were not meant to send, and things that are
// no values.
var pieces = []string{
	"null", "true", "false", "0", "-1", "1.5", "1e999", "9223372036854775808", "-0", `""`, `"x"`, `"\ud800"`, `"\u0000"`, "[]", "{}", "[null]", `[[]]`, `{"":{}}`,
	`{"type":"text"}`, `{"type":"text","text":"t"}`, `{"role":"system","content":"s"}`, `{"role":"assistant","content":null}`, `[{"type":"tool_result","tool_use_id":"x"}]`,
	`{"type":"function_call_output","call_id":"c","output":"o"}`, `{"type":"reasoning","summary":[]}`, `{"type":"json_schema","schema":{"type":"object"}}`,
	`{"type":"tool_reference","tool_name":"x"}`, `{"type":"ephemeral","ttl":"1h"}`, `"` + strings.Repeat("a", 300) + `"`, strings.Repeat("[", 600) + strings.Repeat("]", 600),
	"", "\xff", `"`, "{", "}", "[", "]", ",", ":", "\\", "// no", "NaN",
}

// spansOf returns where the values of a document stand.
func spansOf(body []byte) []span {
	doc, err := tape.Parse(body)
	if err != nil {
		return []span{{0, len(body)}}
	}
	defer doc.Free()
	return walk(nil, doc.Root())
}

func walk(all []span, v tape.Value) []span {
	all = append(all, span{v.Start(), v.End()})
	for _, e := range v.Elements() {
		all = walk(all, e)
	}
	for _, f := range v.Fields() {
		all = walk(all, f)
	}
	return all
}
