// Package jinja renders chat templates: the part of Jinja2 that models ship.
//
// A Template is made by Parse and holds a compiled tree with every name
// already bound to its place; it never changes and may be rendered by many
// goroutines at once. A Value is what templates compute with: a small tagged
// struct, in Python's terms. Decode makes values of JSON: objects keep the
// client's key order, integers stay integers of any length, floats floats.
// Render appends the text to the caller's buffer.
//
// The measure is Python's Jinja2 3.1 as model servers set it up: the immutable
// sandbox, trim_blocks, lstrip_blocks, loop controls, the generation tag, no
// autoescaping, and a tojson that writes json.dumps text without escaping
// HTML. Output is equal byte for byte; where Python raises, Render returns an
// *Error with Python's kind and message. What raise_exception raises has the
// kind TemplateError.
//
// The language: if, for (else, filtered, recursive, the loop variable), set,
// set blocks, namespaces, macros, call and filter blocks, with, break,
// continue, generation, raw, comments; every operator; all filters and tests
// of Jinja2 except the ones that make HTML (urlize, xmlattr, striptags,
// wordwrap, pprint, random, filesizeformat); the methods of strings and
// mappings except codecs; namespace, dict, range, cycler, joiner,
// raise_exception and strftime_now. Inheritance, include, import, blocks and
// autoescape are refused by Parse, since a chat template is one file.
// Methods that change a list or a mapping are undefined, and raise
// SecurityError when called, as in the sandbox.
//
// A Memo makes the next rendering of a conversation cheap. A round of a loop
// of the template itself, over messages or anything else, is taken from the
// rendering before when its item is the same and every outside thing that it
// looked at gives the same answer: flags, neighbours, what comes of comparing
// with the last question. Rounds that looked at the same and saw the same share
// what they saw, so most are known to hold without another look. What a round
// set in namespaces is set again. A round that does what cannot be watched (it
// calls strftime_now, hands a namespace or the loop variable on) is run. The
// text is written over the last one, of which the Memo keeps no copy: what is
// as it was stays where it is. Spans says where each message stands in it.
//
// What is the same in every rendering is made once: lists of constants, the
// texts of macros called with constants, the JSON of values that Keep was told
// of.
//
// A template is foreign code. Parse bounds the size of its source (4 MiB) and
// the height of its tree (400); Render bounds the steps taken, the depth of
// calls, the bytes that values take in all, the bytes of output and the time,
// all in Options. Values are compared and printed down to 500 levels, integers
// have at most 16,384 bits, a range 100,000 items. What goes over a limit ends
// in an error that wraps ErrLimit.
//
// Cost: about as much as copying its output plus 10–40 ns an expression and
// 100 ns a macro; with a Memo 20–60 ns and no memory for a message that is not
// new. The context is read in place and never written. Templates that go
// through all messages for every message take quadratic time, with a Memo too,
// but for searches whose body only sets a flag.
package jinja
