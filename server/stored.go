package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// Shelf keeps responses that clients asked to store. Keep and Drop never
// wait. Stored is false for an id that is not known or has expired; its error
// means that nobody knows. What it returns is not written. A response must be
// found as soon as Keep has returned.
type Shelf interface {
	Keep(turn.Stored)
	Stored(ctx context.Context, id string) (turn.Stored, bool, error)
	Drop(tenant, id string)
}

const (
	keepFor   = 30 * 24 * time.Hour // how long OpenAI keeps responses
	chainMost = 1000                // responses that one may go on from
	findFor   = 5 * time.Second     // that a look-up of one may take
)

// keepResponse puts a response on the shelf.
func (s *Server) keepResponse(t *turn.Turn, input, document []byte) {
	root := struct {
		ID string `json:"id"`
	}{}
	if json.Unmarshal(document, &root) != nil || root.ID == "" {
		return
	}
	s.shelf.Keep(turn.Stored{
		ID: root.ID, Tenant: t.Tenant, Session: t.Who.Session, Previous: t.Previous, Model: t.Model,
		Input: input, Document: bytes.Clone(document), At: t.Arrived, Expires: t.Arrived.Add(keepFor),
	})
}

// unkept tells a client that its response will not outlive the daemon: the
// ledger does not take rows now.
func (s *Server) unkept(c *call, t *turn.Turn) {
	if !t.Store {
		return
	}
	if h := s.ledger.Health(); !h.OK {
		s.count.unkept.Add(1)
		c.warn("the response is kept in memory only, until dyn restarts: " + h.Why)
	}
}

// stored finds a response of the caller.
func (s *Server) stored(c *call, id string) (turn.Stored, bool, error) {
	if !strings.HasPrefix(id, "resp_") { // none of ours has another name
		return turn.Stored{}, false, nil
	}
	r, ok, err := s.onShelf(id)
	return r, ok && r.Tenant == c.tenant(), err
}

// onShelf looks on the shelf, whoever it belongs to.
func (s *Server) onShelf(id string) (turn.Stored, bool, error) {
	ctx, cancel := context.WithTimeout(s.life, findFor)
	defer cancel()
	r, ok, err := s.shelf.Stored(ctx, id)
	if err != nil {
		err = &dialect.Problem{Kind: dialect.Unavailable, Message: "what is stored cannot be read now: " + err.Error(), RetryAfter: retryAfter}
	}
	return r, ok, err
}

// resume puts what a response goes on from in front of its input, and the
// items that it refers to in their places. The body comes back as it is when
// it names none.
func (s *Server) resume(c *call, body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(`"previous_response_id"`)) && !bytes.Contains(body, []byte(`"item_reference"`)) {
		return body, nil
	}
	doc, err := tape.Parse(body)
	if err != nil {
		return body, nil // the decoder says it better
	}
	defer doc.Free()
	root := doc.Root()
	own, ok := inputItems(root.Key("input"))
	if !ok {
		return body, nil // this too
	}
	line, err := s.line(c, root.Key("previous_response_id").Text())
	if err != nil {
		return nil, err
	}
	return s.joined(c, root, line, own)
}

// line is the responses that one goes on from, itself included, the oldest
// first; none for the id "".
func (s *Server) line(c *call, id string) ([]turn.Stored, error) {
	var line []turn.Stored
	size := 0
	for at := id; at != ""; {
		r, ok, err := s.stored(c, at)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, &dialect.Problem{
				Param: "previous_response_id", Code: "previous_response_not_found",
				Message: "Previous response with id '" + clip(at) + "' not found.",
			}
		case len(line) == chainMost:
			return nil, &dialect.Problem{Param: "previous_response_id", Message: fmt.Sprintf("goes on from more than %d responses; send the input whole", chainMost)}
		}
		if size += len(r.Input) + len(r.Document); size > s.o.MaxBody {
			return nil, s.tooLarge()
		}
		line = append(line, r)
		at = r.Previous
	}
	slices.Reverse(line)
	return line, nil
}

// joined writes a body anew, with the items of line before its own. Every
// value is the client's own bytes.
func (s *Server) joined(c *call, root tape.Value, line []turn.Stored, own []byte) ([]byte, error) {
	var items [][]byte
	size := len(root.Raw())
	for _, r := range line {
		items = append(appendItems(items, r.Input), outputOf(r.Document)...)
		size += len(r.Input) + len(r.Document)
	}
	if size > s.o.MaxBody {
		return nil, s.tooLarge()
	}
	items, err := s.referred(c, items, appendItems(nil, own), size)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, size), `{"input":[`...)
	b = append(append(b, bytes.Join(items, []byte(","))...), ']')
	for key, v := range root.Fields() {
		if key.Text() == "input" {
			continue
		}
		b = append(append(b, ','), key.Raw()...)
		b = append(append(b, ':'), v.Raw()...)
	}
	return append(b, '}'), nil
}

// appendItems appends the elements of a JSON array.
func appendItems(items [][]byte, array []byte) [][]byte {
	doc, err := tape.Parse(array)
	if err != nil {
		return items
	}
	defer doc.Free()
	for _, v := range doc.Root().Elements() {
		items = append(items, v.Raw())
	}
	return items
}

// outputOf is the items of a response that was kept.
func outputOf(document []byte) [][]byte {
	doc, err := tape.Parse(document)
	if err != nil {
		return nil
	}
	defer doc.Free()
	return appendItems(nil, doc.Root().Key("output").Raw())
}

// ownInput is the input of a body as an array of items.
func ownInput(body []byte) []byte {
	doc, err := tape.Parse(body)
	if err != nil {
		return nil
	}
	defer doc.Free()
	items, _ := inputItems(doc.Root().Key("input"))
	return bytes.Clone(items)
}

// inputItems makes an array of an input, which may be a plain text or absent;
// false for what is none.
func inputItems(input tape.Value) (items []byte, ok bool) {
	switch input.Kind() {
	case tape.Array:
		return input.Raw(), true
	case tape.String:
		b := append([]byte(`[{"type":"message","role":"user","content":[{"type":"input_text","text":`), input.Raw()...)
		return append(b, `}]}]`...), true
	case tape.None, tape.Null:
		return []byte("[]"), true
	}
	return nil, false
}
