// Package bpe turns text into token ids and back, exactly as the model's own
// vocabulary file says: a tokenizer.json, ranks as tiktoken (Kimi) and tekken
// (Mistral) write them, or the metadata of a GGUF file.
//
// The nouns:
//
//   - token: a string of bytes with an id.
//   - added token: a token that is found in the text before anything else,
//     such as <|im_start|>; some of them are special.
//   - piece: what the pre-tokenizer cuts the text into; tokens never cross
//     the border of two pieces.
//   - merge: a pair of tokens that may be joined; the merge with the lowest
//     rank is done first.
//
// The way of a text through Encode: broken UTF-8 becomes U+FFFD; added
// tokens that are matched on raw text are cut out; what lies between is
// normalised as the file says; added tokens that are matched on normalised
// text are cut out; the rest is cut into pieces; a piece that is one token
// gives its id, any other piece is merged from its bytes or characters.
//
// What it reads: byte-level BPE (the GPT-2 alphabet of 256 characters), split
// by scanners for the patterns of GPT-2, GPT-4 (Qwen, Llama 3), GPT-4o
// (gpt-oss), Kimi, Mistral and DeepSeek-V3, and by regexp2 for patterns whose
// meaning there is sure; and SentencePiece-style BPE with byte fallback
// (Llama 2, Gemma), cut where no merge joins two characters. Every other kind
// of file (Unigram, WordPiece, …) is refused with ErrUnsupported, which names
// what is outside: a wrong id is worse than no id.
//
// A SentencePiece text has bars (U+2581) for spaces: both are one here, and
// come back as spaces. The space that Llama 2's kind puts before each part of
// a text Decode takes away again, also after an added token, where others
// leave it.
//
// Limits: a file of 256 MiB, ids below 1<<22, a million merges, tokens of
// 65,535 bytes, pieces of 256 KiB (a longer run of letters is cut there, and
// the ids around the cut may differ from the reference; the text they spell
// does not), two seconds of backtracking for each stage of a pattern without
// a scanner. Work memory of one Encode stays near 10 MiB beyond its result;
// what is kept for the next one is 0.7 MiB for each Encode at a time, most of
// it the last pieces and what they became, and up to 1 MiB where a text
// had to be normalised.
//
// Known differences: Encode finds added tokens in text whatever the form, for
// a prompt is rendered to text first; EncodeText does not, as Mistral's own
// program and llama-server with parse_special off. Control characters that a
// byte-level vocabulary lacks, as SmolLM2's does, give no token and are not in
// what Decode returns; a GGUF file of Qwen's is composed to NFC as its
// tokenizer.json says, which llama.cpp does not.
// Characters that Unicode gained after Go's tables or the reference's were made
// may be another class, or be ordered otherwise by NFC.
//
// Cost: Qwen3's file loads in about 0.1 s into 12 MB, Gemma 3's, the largest,
// in 0.2 s into 24 MB. Encode works at 15 million tokens a second and more, in
// prompts that repeat their words at up to a hundred million, in time n log n
// for any input. It allocates nothing but its result, except a copy of a text
// of more than 1 MiB that is not in NFC or not UTF-8, and the cuts of a pattern
// without a scanner, which are ten times slower. A Tokenizer never changes once
// read; a Decoder belongs to one goroutine.
package bpe
