// Package openapi describes what the daemon's endpoints take and answer, as
// an OpenAPI 3.1 document.
//
// The bodies are defined in api/*.schema, in a small language that reads like
// the JSON it describes:
//
//	// Ask is what a client sends.
//	Ask = {
//		model: string                  must be there
//		// at most 16
//		n?: int | null                 may be absent, or null
//		mode?: "fast" | "slow"         one of these texts
//		content: string | [Part]       a text or a list
//		top?: {*: number}              any names, with numbers
//		+Sampling                      the fields of another object too
//		...                            and more that are not named here
//	}
//
// Types are string, int, number, bool, null, any, object (with any fields),
// and the names that are defined. A comment in front of a definition or of a
// field is its description. An Operation names the types of its bodies;
// Document writes the page of a list of them, with the definitions that they
// lead to.
//
// Definitions of requests name every field that is read; those of answers
// name every field that is written. The tests of server hold each request and
// answer that passes against them, so that a field that is of another type
// fails, and one that an answer has beside them; what is read of requests,
// which clients send more in than that, is looked for in the source.
package openapi
