// Package dialect is the border between the three APIs that agents speak and
// the values of package turn. It is pure: bytes in, bytes out; it knows no
// sockets and no HTTP library.
//
// A Codec is one API: messages (Anthropic), responses (OpenAI, what Codex
// speaks) or chat (chat completions). Decode makes a turn.Turn of a body, or
// a *Problem that tells the client what is wrong and where. Stream makes an
// Encoder, which writes the events of one answer as server-sent events;
// Document collects the same events for clients that do not stream. Problem
// writes an error in the API's own form.
//
// Decoding. One reader serves all three (decode.go), a form per API says what
// differs. The body is checked once, whole: grammar, UTF-8, at most
// tape.MaxDepth levels, at most tape.MaxValues values. Fields that are not
// known are ignored, content that is not known is kept as turn.Other; a field
// of the wrong type is a problem that names it. No document of the client is
// written anew: schemas, arguments and images are its own bytes. Everything
// in a Turn is a copy, so the body may be reused when Decode returns; what a
// message or a tool of up to 32 KB says is parts of one copy of it, so who
// keeps one of its texts keeps that message, and no more.
//
//   - What belongs to one answer of the model (thinking, text, calls) becomes
//     one assistant message, in the order in which it came.
//   - Results that follow one another become one message of turn.ToolRole, a
//     block each; images inside a result follow it as blocks.
//   - Arguments of a call that are no JSON are kept as a JSON string of the
//     text, empty ones are {}; see Args.
//   - Hosted tools (web search and the like) are dropped. Tools of a
//     namespace get flat names; encoders and replayed calls go through the
//     same table, so the way back is exact. Free-text tools become functions
//     with one string argument, "input".
//   - Only defer_loading defers a tool. What makes one known is in Block.Refs.
//   - An omitted thinking block carries its text in its signature and gives
//     it back when it is replayed. Signatures are never verified.
//   - Hints come in nvext or headers, in all spellings (hints.go); those that
//     are not known are listed, or with strict refused.
//
// Who a turn belongs to is read from headers and metadata as far as the
// client tells it (identity.go), what it is for from its shape (kind.go).
// Those texts are bounded and hold no control characters. They group turns
// and authorise nothing.
//
// A Recall makes the old part of a conversation cost a comparison of bytes:
// the messages it had are handed out again, with their keys (prompt/key), so
// nobody may write to them. Bodies of less than 4 KB and conversations of less
// than 8 are read as fast.
//
// Encoding. One state machine (blocks.go) makes numbered blocks of any order
// of events, never two open at a time; each API only spells them. Encoders
// append to the caller's buffer and make no garbage per event. The responses
// encoder and all documents hold the answer until it ends, since the API
// repeats it; the others hold nothing that grows, except the text of an
// omitted thinking block. Decoding costs about 6 µs for a body of 6 KB, 0.4 ms
// for one of a quarter megabyte, 20 µs for one of 400 KB of which a Recall
// knows all but the end; encoding a text event a tenth of a microsecond.
package dialect
