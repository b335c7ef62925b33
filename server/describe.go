package server

import (
	"github.com/agentinfer/dyn/server/openapi"
	"github.com/agentinfer/dyn/turn"
)

// openAPI answers GET /openapi.json, from the table of endpoints.
func (s *Server) openAPI(c *call) error {
	c.SetContentType("application/json")
	c.SetBody(s.described())
	return nil
}

// describe writes the description of a table.
func describe(version string, table []endpoint) []byte {
	ops := make([]openapi.Operation, 0, len(table))
	for _, e := range table {
		op := openapi.Operation{
			Method: e.method, Path: e.path, Says: e.says, Open: e.open,
			In: e.in, Out: e.out, Flow: e.flow, Kind: e.kind, Problem: "Problem", Query: e.query,
		}
		switch e.dialect {
		case "":
		case turn.Messages:
			op.Problem = "AnthropicProblem"
		default:
			op.Problem = "OpenAIProblem"
		}
		ops = append(ops, op)
	}
	return openapi.Document(version, ops)
}
