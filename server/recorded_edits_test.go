//go:build !race

package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/internal/fixtures/talk"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// prompted are the parts of a body that become a prompt.
var prompted = []string{"messages", "input", "system", "instructions", "tools"}

// leaf is a string of a document, and how to put another one there.
type leaf struct {
	path string
	text string
	put  func(string)
}

// leaves are the strings below a value, in order.
func leaves(path string, v any, put func(any)) (all []leaf) {
	switch v := v.(type) {
	case string:
		if v != "" {
			all = append(all, leaf{path, v, func(s string) { put(s) }})
		}
	case []any:
		for i := range v {
			all = append(all, leaves(fmt.Sprintf("%s[%d]", path, i), v[i], func(x any) { v[i] = x })...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leaves(path+"."+k, v[k], func(x any) { v[k] = x })...)
		}
	}
	return all
}

// asSent is a recorded request in a session, as the server reads it; ok is
// false for what is refused, and for what is no turn.
func asSent(q replayed) (t *turn.Turn, ok bool) {
	d := dialectOf(q.path)
	if d == "" || len(q.body) == 0 {
		return nil, false
	}
	t, err := dialect.For(d).Decode(q.body, q.find, nil)
	if err != nil {
		return nil, false
	}
	prompt.Steady(t)
	return t, true
}

// where is a place of a turn that can differ.
type where struct {
	message, block, tool int
	field                string
}

// differing are the places where two turns are not the same, field by field.
func differing(a, b *turn.Turn) (all []where) {
	for i := range max(len(a.Tools), len(b.Tools)) {
		if i >= min(len(a.Tools), len(b.Tools)) || len(a.Tools) != len(b.Tools) && a.Tools[i].Name != b.Tools[i].Name {
			all = append(all, where{-1, -1, i, diff.FieldAdded}, where{-1, -1, i, diff.FieldRemoved})
			break
		}
		x, y := a.Tools[i], b.Tools[i]
		for field, differs := range map[string]bool{
			diff.FieldName: x.Name != y.Name, diff.FieldDescription: x.Description != y.Description, diff.FieldSchema: !bytes.Equal(x.Schema, y.Schema),
		} {
			if differs {
				all = append(all, where{-1, -1, i, field})
			}
		}
	}
	for i := range max(len(a.Messages), len(b.Messages)) {
		if i >= min(len(a.Messages), len(b.Messages)) {
			return append(all, where{i, -1, -1, ""})
		}
		all = append(all, differingIn(i, a.Messages[i], b.Messages[i])...)
	}
	return all
}

// differingIn are those of a message.
func differingIn(i int, a, b turn.Message) (all []where) {
	if a.Role != b.Role {
		all = append(all, where{i, -1, -1, diff.FieldRole})
	}
	for j := range max(len(a.Blocks), len(b.Blocks)) {
		if j >= min(len(a.Blocks), len(b.Blocks)) || a.Blocks[j].Kind != b.Blocks[j].Kind {
			return append(all, where{i, j, -1, diff.FieldBlocks}, where{i, j, -1, diff.FieldThinking})
		}
		x, y := a.Blocks[j], b.Blocks[j]
		text := diff.FieldText
		if x.Kind == turn.ThinkingBlock {
			text = diff.FieldThinking
		}
		for field, differs := range map[string]bool{
			text: x.Text != y.Text, diff.FieldName: x.Name != y.Name, diff.FieldID: x.ID != y.ID,
			diff.FieldArgs: !bytes.Equal(x.Args, y.Args), diff.FieldRaw: !bytes.Equal(x.Raw, y.Raw), diff.FieldError: x.IsError != y.IsError,
		} {
			if differs {
				all = append(all, where{i, j, -1, field})
			}
		}
	}
	return all
}

// recordedTurns are the recorded requests that become prompts, by dialect.
func recordedTurns(t *testing.T, m *prompt.Model) map[turn.Dialect][]replayed {
	all := map[turn.Dialect][]replayed{}
	for _, q := range replays(t, true) {
		if read, ok := asSent(q); ok && read.Messages != nil {
			q.header = append(slices.Clone(q.header), [2]string{"x-session-id", "s1"}) // where the client names none
			if b := builtOf(t, session.New(session.Limits{}), m, q, time.Unix(1000, 0)); b != nil {
				all[read.Dialect] = append(all[read.Dialect], q)
			}
		}
	}
	return all
}

// TestEditedRecordings changes one byte of what clients were recorded to send,
// a thousand times, in any string of any message or tool of the document, as the
// turn is sent again or as the next one goes on from it: the break names the
// message and field that is not as it was in the turn that the document is read
// as, and the first of the ids that is another one, each prompt made from
// nothing. Where all ids are the same, nothing is broken.
func TestEditedRecordings(t *testing.T) {
	m := simModel(t)
	pairs := recordedPairs(t, m)
	broke, whole := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(pairs[rapid.SampledFrom(talk.Dialects).Draw(t, "dialect")]).Draw(t, "requests")
		if rapid.Bool().Draw(t, "as its client names it") {
			for i := range p {
				p[i].header = p[i].header[:len(p[i].header)-1]
			}
		}
		for range 12 {
			switch checkRecordedEdit(t, m, p[0], p[1]) {
			case 1:
				broke++
			case 0:
				whole++
			}
		}
	})
	t.Logf("%d edits broke a prompt, %d did not", broke, whole)
	if broke+whole < 1000 || broke < 500 {
		t.Error("that is too few")
	}
}

// recordedPairs are recorded requests, each with itself and with the one that
// goes on from it.
func recordedPairs(t *testing.T, m *prompt.Model) map[turn.Dialect][][2]replayed {
	pairs, grown := map[turn.Dialect][][2]replayed{}, 0
	for d, all := range recordedTurns(t, m) {
		for i, q := range all {
			pairs[d] = append(pairs[d], [2]replayed{q, q})
			if i+1 < len(all) && continues(t, m, q, all[i+1]) {
				pairs[d], grown = append(pairs[d], [2]replayed{q, all[i+1]}), grown+1
			}
		}
	}
	if grown < 20 {
		t.Errorf("%d recorded requests go on from the one before", grown)
	}
	return pairs
}

// continues reports whether a request has all of another one, and more.
func continues(t *testing.T, m *prompt.Model, q, next replayed) bool {
	was, _ := asSent(q)
	now, _ := asSent(next)
	if was.Who != now.Who || len(now.Messages) <= len(was.Messages) {
		return false
	}
	p, err1 := m.Build(nil, was, nil, nil)
	n, err2 := m.Build(nil, now, nil, nil)
	return err1 == nil && err2 == nil && alike(p, n) >= p.IDs.Len()-len(p.Opening)
}

// alike is how many ids two prompts begin with alike.
func alike(a, b prompt.Prompt) (n int) {
	x, y := a.IDs.Flat(), b.IDs.Flat()
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// checkRecordedEdit sends a request, and then one that is changed in one place:
// 1 is a change that breaks the prompt, 0 one that does not, -1 one after which
// the server refuses the document.
func checkRecordedEdit(t *rapid.T, m *prompt.Model, sent, next replayed) int {
	edited, what := editOf(t, next)
	was, _ := asSent(sent)
	base, _ := asSent(next)
	now, ok := asSent(edited)
	if !ok || now.Who != was.Who {
		return -1
	}
	from, err1 := m.Build(nil, was, nil, nil)
	to, err2 := m.Build(nil, now, nil, nil)
	if err1 != nil || err2 != nil {
		return -1
	}
	s := session.New(session.Limits{})
	builtOf(t, s, m, sent, time.Unix(1000, 0))
	b := builtOf(t, s, m, edited, time.Unix(1001, 0)).Break
	first := alike(from, to)
	grown := len(base.Messages) > len(was.Messages)
	switch places := differing(base, now); {
	case first == from.IDs.Len() && first == to.IDs.Len(), grown && (first >= from.IDs.Len()-len(from.Opening) || onlyAdds(was, now)):
		if b != nil {
			t.Fatalf("%s: no token is another one: %+v", what, *b)
		}
		return 0
	case b == nil && was.Who.Session == "" && places[0].message <= firstUser(was):
		return 0 // another question is another session
	case b == nil:
		t.Fatalf("%s: no break, token %d of %d and %d", what, first, from.IDs.Len(), to.IDs.Len())
	case b.Token != first:
		t.Fatalf("%s: token %d, want %d", what, b.Token, first)
	case !slices.Contains(places, where{b.Message, b.Block, b.Tool, b.Field}):
		t.Fatalf("%s: %+v %+v, want one of %+v", what, *b, *b.Text, places)
	}
	return 1
}

// onlyAdds reports whether a turn says all that another one did, and more in or
// behind its last message.
func onlyAdds(was, now *turn.Turn) bool {
	n := len(was.Messages)
	if n > len(now.Messages) || len(was.Messages[n-1].Blocks) > len(now.Messages[n-1].Blocks) {
		return false
	}
	cut := *now
	cut.Messages = slices.Clone(now.Messages[:n])
	cut.Messages[n-1].Blocks = cut.Messages[n-1].Blocks[:len(was.Messages[n-1].Blocks)]
	return len(differing(was, &cut)) == 0
}

// editOf is a request with one byte of one string of its conversation changed.
func editOf(t *rapid.T, q replayed) (edited replayed, what string) {
	var doc map[string]any
	if err := json.Unmarshal(q.body, &doc); err != nil {
		t.Fatal(err)
	}
	var all []leaf
	for _, part := range prompted {
		all = append(all, leaves(part, doc[part], func(x any) { doc[part] = x })...)
	}
	x := rapid.SampledFrom(all).Draw(t, "leaf")
	text := []byte(x.text)
	at := rapid.IntRange(0, len(text)-1).Draw(t, "byte")
	text[at] = rapid.ByteRange(0, 0x7f).Filter(func(b byte) bool { return b != text[at] }).Draw(t, "to")
	x.put(string(text))
	body, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	edited = q
	edited.body = body
	return edited, fmt.Sprintf("%s: %s, byte %d of %.80q is %q", q.name, x.path, at, x.text, text[at])
}

// TestRecordingsSentAgain: what clients were recorded to send breaks nothing
// when it comes again, to the letter or with other white space between its
// parts.
func TestRecordingsSentAgain(t *testing.T) {
	m := simModel(t)
	n := 0
	for d, all := range recordedTurns(t, m) {
		for _, q := range all {
			var spaced bytes.Buffer
			if err := json.Indent(&spaced, q.body, "", " \t"); err != nil {
				t.Fatal(err)
			}
			again := q
			again.body = spaced.Bytes()
			s := session.New(session.Limits{})
			for i, body := range []replayed{q, q, again, again, q} {
				if b := builtOf(t, s, m, body, time.Unix(int64(1000+i), 0)); b == nil || b.Break != nil {
					t.Fatalf("%s, %s, time %d: %+v", d, q.name, i, b)
				}
			}
			n++
		}
	}
	t.Logf("%d requests", n)
}

// firstUser is where a user speaks first.
func firstUser(t *turn.Turn) int {
	return slices.IndexFunc(t.Messages, func(m turn.Message) bool { return m.Role == turn.User })
}
