// Command train makes the files of the simulated engine's model: it trains a
// byte-level BPE on the text of this repository and writes the four files of
// the folder above. Run it in the repository's root:
//
//	go run ./engine/sim/model/train
//
// The way of the text: read reads the Go, Markdown, YAML, shell and Jinja
// files in the order of their names; count cuts them into pieces, with the
// pattern that the tokenizer will use, and counts equal pieces; trainer joins
// the most frequent pair of neighbours in all pieces, again and again, until
// the vocabulary is full; write spells the result in the tokenizer.json form.
//
// Everything is decided by counts and, between equals, by the bytes of the
// tokens: the same text gives the same files on any machine. It takes a few
// seconds and some 100 MB for a few megabytes of text. Nothing is written
// unless training went through.
package main
