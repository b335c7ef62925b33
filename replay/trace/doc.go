// Package trace reads recorded load: who asked what, when, and which blocks of
// their prompts are alike. It knows no text; a block is a content, a number that
// is the same where the tokens are the same.
//
// The nouns: a Trace is a list of sessions. A Session is a line of turns, each
// of which waits for the one before; a sub-agent is a session with a parent. A
// Turn says how many tokens come in and go out, how long its client paused
// before it, and how its prompt differs from the one before: so many blocks
// kept, then runs of new ones.
//
// The formats, told apart by their first line, packed with gzip or not:
//
//   - Claude Code sessions as WEKA publishes them (block_size 64, ids of one
//     session only; tools and system prompt are common to sessions with equal
//     lengths of both), with hash_ids or in the compact form h=[keep, runs].
//   - Mooncake's and Dynamo's JSONL: timestamp, input_length, output_length,
//     hash_ids of 512 tokens, equal ids meaning equal prefixes; rows of one
//     session_id are its turns, delay or tool_wait_ms the pause before each.
//   - Azure's CSV (TIMESTAMP, ContextTokens, GeneratedTokens): lengths only, so
//     no two prompts are alike.
//   - TraceLab's rounds, CSV and JSONL: lengths of prefix and addition.
//
// Served makes a Trace of the turns that a ledger keeps; Notes say what of it is
// estimated.
//
// Input is hostile until read: a line has at most 64 MiB, a prompt 4 Mi tokens,
// a trace 4 Mi turns, and what does not fit or makes no sense is an error that
// names its line. Nothing here panics on any input (FuzzRead).
//
// Cost: runs, not blocks, are kept, a few hundred bytes a turn; the 710
// sessions of the Claude Code trace take 15 MB and less than half a second.
package trace
