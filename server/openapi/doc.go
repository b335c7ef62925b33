// Package openapi describes what the daemon's endpoints take and answer, as
// an OpenAPI 3.1 document.
//
// The nouns: a Go type describes a body, its json tags the names. A field
// without omitempty is required, a pointer may be null, a tag `enum:"a|b"`
// lists what a text may be, a tag `doc` says something about it. A type with
// a method Union is one of several; Any is anything; a struct that embeds
// Open may have more fields than it names, as clients' requests do. Schema
// makes the JSON schema of a type, Document the whole page of a list of
// Operations.
//
// Types of requests name every field that is read; those of answers name
// every field that is written. The tests of server hold each request and
// answer that passes against them, so that a field that is missing here, or
// is of another type, fails.
package openapi
