package server

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// oneResponse answers GET /v1/responses/{id}: the document as it was sent.
func (s *Server) oneResponse(c *call) error {
	if string(c.QueryArgs().Peek("stream")) == "true" {
		return &dialect.Problem{Param: "stream", Message: "is not supported here: a response is stored when it is whole; leave it out"}
	}
	r, err := s.kept(c)
	if err != nil {
		return err
	}
	c.SetContentType("application/json")
	c.SetBody(r.Document)
	return nil
}

// dropResponse answers DELETE /v1/responses/{id}.
func (s *Server) dropResponse(c *call) error {
	r, err := s.kept(c)
	if err != nil {
		return err
	}
	s.shelf.Drop(r.Tenant, r.ID)
	return reply(c.RequestCtx, map[string]any{"id": r.ID, "object": "response", "deleted": true})
}

// kept is the response that the path names.
func (s *Server) kept(c *call) (turn.Stored, error) {
	r, ok, err := s.stored(c, c.arg)
	if err == nil && !ok {
		err = &dialect.Problem{Kind: dialect.NotFound, Code: "response_not_found", Message: "Response with id '" + clip(c.arg) + "' not found."}
	}
	return r, err
}

// itemList is a page of input items.
type itemList struct {
	Object  string            `json:"object"`
	Data    []json.RawMessage `json:"data"`
	FirstID *string           `json:"first_id"`
	LastID  *string           `json:"last_id"`
	HasMore bool              `json:"has_more"`
}

// responseInput answers GET /v1/responses/{id}/input_items: the request's own
// items, the newest first unless order says otherwise.
func (s *Server) responseInput(c *call) error {
	r, err := s.kept(c)
	if err != nil {
		return err
	}
	q := c.QueryArgs()
	limit := 20
	if text := string(q.Peek("limit")); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > 100 {
			return &dialect.Problem{Param: "limit", Message: "must be a number from 1 to 100"}
		}
	}
	items := appendItems(nil, r.Input)
	switch order := string(q.Peek("order")); order {
	case "asc":
	case "", "desc":
		slices.Reverse(items)
	default:
		return &dialect.Problem{Param: "order", Message: "must be 'asc' or 'desc', not '" + clip(order) + "'"}
	}
	if after := string(q.Peek("after")); after != "" {
		at := slices.IndexFunc(items, func(b []byte) bool { return itemID(b) == after })
		if at < 0 {
			return &dialect.Problem{Param: "after", Message: "no item of the response has the id '" + clip(after) + "'"}
		}
		items = items[at+1:]
	}
	page := itemList{Object: "list", Data: []json.RawMessage{}, HasMore: len(items) > limit}
	for _, b := range items[:min(limit, len(items))] {
		page.Data = append(page.Data, bytes.Clone(b))
	}
	if n := len(page.Data); n > 0 {
		first, last := itemID(page.Data[0]), itemID(page.Data[n-1])
		page.FirstID, page.LastID = &first, &last
	}
	return reply(c.RequestCtx, page)
}

// itemID is an item's id, "" where the client gave it none.
func itemID(item []byte) string {
	doc, err := tape.Parse(item)
	if err != nil {
		return ""
	}
	defer doc.Free()
	return doc.Root().Key("id").Text()
}
