// Package model is the folder of the model that the simulated engine plays
// when it is given no other: tokenizer.json, tokenizer_config.json with a
// chat template, config.json and generation_config.json, in the form in which
// models are published. There are no weights; nothing here can compute.
//
// The tokenizer is a byte-level BPE of 8,000 entries, nine of them added
// tokens: the marks of ChatML turns, thinking, tool calls and tool results.
// It cuts text by the same pattern as Qwen3's, so that one scanner serves
// both, and it was trained on the text of this repository, the kind of text
// that coding agents send. The chat template is ChatML with calls in the
// hermes form.
//
// The files are made by the program in the folder train and committed; they
// are not made anew by a build. A tokenizer that changes changes every block
// hash and every recorded count, so it is retrained only on purpose:
//
//	go run ./engine/sim/model/train
//
// The program prints what it read and wrote. The same text gives the same
// bytes, but the repository's text grows, so no test compares the two; the
// tests here check that the files are what their forms require.
//
// Cost: 0.2 MB in the program. FS needs no set-up and never fails.
package model
