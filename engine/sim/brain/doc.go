// Package brain decides what the simulated engine says. A brain is a YAML file
// with a list of rules; the first rule that fits a prompt answers it. Nothing
// is ever said that no rule says, tool calls least of all; without a fitting
// rule the answer is one short sentence.
//
// A rule fits when all its conditions do; one without conditions always fits:
//
//   - when: a regular expression (RE2; (?s) lets a dot cross lines) that is
//     searched in the last 4,000 characters of the decoded prompt, markers
//     such as <|im_start|> included.
//   - seen: N: exactly N earlier prompts began like this one, so 0 is the
//     first prompt of its kind. Prompts begin alike when their first `prefix`
//     tokens are equal (256 unless told otherwise, counted per rule; shorter
//     prompts compare whole). Each engine counts its own prompts: with several
//     engines behind a router, script with `when`.
//
// What a rule says, paces and breaks:
//
//   - say: raw text, as the model would write it; or say_ids: token ids. The
//     model's end token follows. A request that ignores it hears the script
//     again and again until its token limit.
//   - answer: what a client is to get, with reasoning, content and calls (each
//     with name and arguments), instead of raw text. It is written as the
//     model's family writes it (package voice), so that one script serves all.
//   - token_ms: at least so many milliseconds pass between two tokens, at any
//     speed of the engine.
//   - fault: crash (the process is gone), engine (the engine dies, the HTTP
//     side reports it, then the process ends), stall (no more tokens), close
//     (the connection is cut) or slow (a second between two tokens, or
//     fault_ms); after: N lets N tokens out first.
//
// A tool loop of two calls and a second question of the user:
//
//	rules:
//	  - when: 'go on<\|im_end\|>\s*<\|im_start\|>assistant'
//	    say: There is nothing left to do.
//	  - when: '<tool_response>\s*two'
//	    say: Both files are there.
//	  - when: '<tool_response>\s*one'
//	    say: |-
//	      <tool_call>
//	      {"name": "Bash", "arguments": {"command": "echo two"}}
//	      </tool_call>
//	  - when: 'look at the files'
//	    say: |-
//	      <tool_call>
//	      {"name": "Bash", "arguments": {"command": "echo one"}}
//	      </tool_call>
//
// Rules stand from the end of the script to its start, because a later prompt
// contains the earlier ones. A prompt ends in <|im_start|>assistant, a line
// break and, where thinking is off, an empty <think> block: leave the end of a
// pattern open rather than anchoring it with $. Whoever starts an engine asks
// it for a token first, so a rule without conditions answers that one too.
//
// Unknown keys are errors. A Brain is safe for concurrent use; it remembers
// the beginnings of 4,096 kinds of prompts and then forgets the oldest. A file
// may have 4 MiB.
package brain
