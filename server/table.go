package server

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// table is all that clients can ask for.
func table() []endpoint {
	return slices.Concat(turnTable(), routeTable(), leaseTable(), bookTable(), passTable())
}

// turnTable are the endpoints that make turns, and what counts their prompts.
func turnTable() []endpoint {
	return []endpoint{
		{
			method: "POST", path: "/v1/messages", dialect: turn.Messages, do: (*Server).serve,
			says: "a turn in Anthropic's dialect", in: "MessagesAsk", out: "Message", flow: "MessagesEvent",
		},
		{
			method: "POST", path: "/v1/messages/count_tokens", counts: true, do: (*Server).countTokens,
			says: "how long the prompt of a messages request is", in: "CountAsk", out: "Count",
		},
		{
			method: "POST", path: "/v1/responses", dialect: turn.Responses, do: (*Server).serve,
			says: "a turn in OpenAI's newer dialect", in: "ResponsesAsk", out: "Response", flow: "ResponsesEvent",
		},
		{
			method: "POST", path: "/v1/responses/input_tokens", dialect: turn.Responses, counts: true, do: (*Server).countInput,
			says: "how long the prompt of a responses request is", in: "InputAsk", out: "InputCount",
		},
		{
			method: "GET", path: "/v1/responses/{id}", dialect: turn.Responses, do: (*Server).oneResponse,
			says: "a stored response", out: "Response", query: []string{"stream"},
		},
		{
			method: "DELETE", path: "/v1/responses/{id}", dialect: turn.Responses, do: (*Server).dropResponse,
			says: "forgets a stored response", out: "Deleted",
		},
		{
			method: "GET", path: "/v1/responses/{id}/input_items", dialect: turn.Responses, do: (*Server).responseInput,
			says: "the input of a stored response", out: "ItemList", query: []string{"limit", "order", "after"},
		},
		{
			method: "POST", path: "/v1/chat/completions", dialect: turn.Chat, do: (*Server).serve,
			says: "a turn in OpenAI's older dialect", in: "ChatAsk", out: "ChatAnswer", flow: "ChatChunk",
		},
		{
			method: "POST", path: "/v1/completions", dialect: turn.Completions, do: (*Server).serve,
			says: "a text or token ids go on, without a template", in: "CompletionAsk", out: "Completion", flow: "Completion",
		},
		{
			method: "POST", path: "/tokenize", counts: true, do: (*Server).tokenize,
			says: "token ids of a text or of a conversation", in: "TokenizeAsk", out: "Tokenized",
		},
		{
			method: "POST", path: "/detokenize", counts: true, do: (*Server).detokenize,
			says: "the text of token ids", in: "DetokenizeAsk", out: "Detokenized",
		},
	}
}

// routeTable are the endpoints for harnesses that route themselves.
func routeTable() []endpoint {
	return []endpoint{
		{
			method: "POST", path: "/v1/route/best_worker", do: (*Server).bestWorker,
			says: "which worker a turn would go to now", in: "RouteAsk", out: "BestWorker", query: []string{"model"},
		},
		{
			method: "POST", path: "/v1/route/mark_prefill_complete", counts: true, do: (*Server).prefillDone,
			says: "the first token of a booked turn came", in: "BookAsk", out: "Booked", query: []string{"model"},
		},
		{
			method: "POST", path: "/v1/route/free", counts: true, do: (*Server).freeBooking,
			says: "a booked turn ended", in: "BookAsk", out: "Booked", query: []string{"model"},
		},
		{
			method: "POST", path: "/v1/route/potential_loads", do: (*Server).potentialLoads,
			says: "what each worker would have to do with one more turn", in: "RouteAsk", out: "PotentialLoads", query: []string{"model"},
		},
		{
			method: "POST", path: "/v1/route/loads", counts: true, do: (*Server).routeLoads,
			says: "what the caller's turns are at each worker", in: "LoadsAsk", out: "RouteLoads", query: []string{"model"},
		},
		{
			method: "GET", path: "/v1/route/loads", counts: true, do: (*Server).routeLoads,
			says: "the same", out: "RouteLoads", query: []string{"model"},
		},
	}
}

// leaseTable are the endpoints for who wants prefixes kept.
func leaseTable() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/leases", do: (*Server).listLeases,
			says: "the caller's leases, and what became of them", out: "LeaseList", query: []string{"session"},
		},
		{
			method: "POST", path: "/v1/leases", counts: true, do: (*Server).addLease,
			says: "has all turns of a session ask for their whole prompt", in: "PinAsk", out: "Lease",
		},
		{
			method: "DELETE", path: "/v1/leases/{id}", counts: true, do: (*Server).dropLease,
			says: "ends a lease, or all of a session", out: "LeaseList",
		},
	}
}

// bookTable are the endpoints that tell about the daemon.
func bookTable() []endpoint {
	return []endpoint{
		{method: "GET", path: "/v1/models", do: (*Server).listModels, says: "the models that are served", out: "ModelList"},
		{method: "GET", path: "/v1/models/{id}", do: (*Server).oneModel, says: "one model", out: "Model"},
		{method: "GET", path: "/health", open: true, do: (*Server).health, says: "200 while some worker takes turns, else 503", out: "Health"},
		{method: "GET", path: "/live", open: true, do: (*Server).live, says: "200 while the process lives", out: "Live"},
		{method: "GET", path: "/", open: true, do: (*Server).live, says: "the same, for clients that warm a connection up", out: "Live"},
		{method: "GET", path: "/api/hello", open: true, do: (*Server).live, says: "the same", out: "Live"},
		{method: "GET", path: "/metrics", do: (*Server).metrics, says: "counters and gauges in Prometheus' form", kind: "text/plain"},
		{method: "GET", path: "/openapi.json", do: (*Server).openAPI, says: "this description", out: "any"},
	}
}

// passTable are the endpoints of other kinds of models: what comes is handed
// to an attached worker of that kind.
func passTable() []endpoint {
	return []endpoint{
		{method: "POST", path: "/v1/embeddings", do: pass("embeddings"), says: "handed to an attached embeddings worker", in: "any", out: "any"},
		{method: "POST", path: "/v1/images/{id}", do: pass("images"), says: "handed to an attached images worker", in: "any", out: "any"},
		{method: "POST", path: "/v1/videos", do: pass("videos"), says: "handed to an attached videos worker", in: "any", out: "any"},
		{method: "POST", path: "/v1/videos/{id}", do: pass("videos"), says: "handed to an attached videos worker", in: "any", out: "any"},
		{method: "GET", path: "/v1/videos/{id}", do: pass("videos"), says: "handed to an attached videos worker", out: "any"},
		{method: "DELETE", path: "/v1/videos/{id}", do: pass("videos"), says: "handed to an attached videos worker", out: "any"},
	}
}
