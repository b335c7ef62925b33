// Package prompt makes token ids of a conversation, incrementally.
//
// A Model is what a model folder says: tokenizer, chat template, stop ids,
// context. This version renders one template family, ChatML with hermes calls
// (Qwen3, Qwen2.5, QwQ and their like); Open reads what a template prints and
// refuses every other with ErrUnsupported, naming the reason. The renderer
// stands behind the Renderer interface, so that a template engine can take
// its place.
//
// The way of a turn: Steady puts what clients vary at will into one form;
// Rolling hashes each message with all before it, so that histories can be
// told apart and raw turns be found; Build renders the turn to segments, takes
// the ids of the segments that the agent's State already holds, splices in
// the raw ids of answers that the model gave itself, and tokenises the rest.
//
// Raw turns: rendering an answer again loses what the model really wrote
// (white space, number spelling, dropped thinking), and with it the engine's
// cache. A Raw store keeps the ids of each answer under the rolling hash of
// the history that ends with it. Build emits them, thinking included, in
// place of the rendering, so that the next prompt begins with the previous
// prompt and its answer, exactly. What the generation prompt held beyond the
// opening of the answer (Qwen3's empty think block) is kept there too, under
// the hash of the history it followed. One Raw serves one Model: ids of
// different tokenizers must not mix. A Raw is bounded in bytes and drops what
// was used longest ago; a lost entry costs a rendering, nothing else.
//
// Segments begin or end with a token of their own in the vocabulary, so they
// are tokenised one by one with the same result as in one piece.
//
// A State belongs to one agent and one goroutine at a time; its size is that
// of the last prompt. A Prompt's ids are never written after Build returns.
// A Model is safe for concurrent use. Arguments nested deeper than 512 levels
// are compared as text. At most 32 tool lists are kept rendered.
//
// Cost: a known conversation is rendered and hashed at memory speed (about
// 0.3 ms for 240 KB) and its ids are copied; only new text is tokenised.
package prompt
