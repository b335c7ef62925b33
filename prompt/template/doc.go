// Package template renders turns with a model's own chat template.
//
// A Template is what a model folder holds: a Jinja template, found by Open in
// the files where models ship one, or one of our own for the models that come
// without (DeepSeek V3.2 and V4). Open tries it on small conversations and
// keeps what it found as facts: whether arguments of calls are wanted as an
// object or as text, the name under which reasoning is read, which switches
// turn thinking on and off, what conversations it refuses, what it prints at
// the end of an answer. Nothing is read from the template's source.
//
// A Page is one agent's last rendering. Render brings it up to a turn: the
// turn's messages become the mappings that Hugging Face templates read, and
// messages that did not change keep theirs, so that what they print is not
// made again. Who knows how many of them did not change says so in Known, and
// they are not even looked at. Same then tells how much of the text is as it
// was.
//
// From turn to messages: a turn's results of several calls become messages of
// their own; texts that a template would refuse beside each other are joined;
// a system message for a template without them becomes the user's; images,
// which the model cannot see, become one fixed text each. What joins is
// decided by the facts and the roles alone, never by the text.
//
// A template is foreign code: it is bounded by package jinja's limits, in Open
// by tighter ones. What it raises about a conversation is an error with
// ErrRefused in its chain, and what goes over a limit one with
// jinja.ErrLimit; both are the client's fault as far as anybody can say.
//
// The date that templates print is that of the Page's first rendering, so
// that midnight changes no prompt.
//
// A Template is safe for concurrent use and never changes, but for a small
// store of what tools and generation prompts looked like, and spare buffers. A
// Page belongs to one goroutine at a time.
//
// Cost: an unchanged message costs a hash of its text, or with Known next to
// nothing. A Page holds its text about twice: as it was printed, and as the
// messages' values; and some hundreds of bytes a message.
package template
