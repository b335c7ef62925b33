package server

import "unicode/utf8"

// retreat takes back the ids whose text a worker held back when it was lost:
// what might have begun a stop string, or half a character. The client has
// nothing of them, so the next worker makes them anew. Of an id that the
// client has in part it returns the rest of the text; that id stays.
func (f *flight) retreat() (rest string) {
	if f.opening != "" {
		return "" // nothing was sent, the answer's given beginning included
	}
	tok := f.m.Prompt.Tokenizer()
	kept, size := 0, 0
	for kept < len(f.said) && size < f.told {
		rest = tok.Token(f.said[kept])
		size += len(rest)
		kept++
	}
	if size < f.told {
		return "" // the engine spells otherwise than the tokenizer: leave it be
	}
	f.said = f.said[:kept]
	if rest = rest[len(rest)-(size-f.told):]; !utf8.ValidString(rest) {
		return ""
	}
	return rest
}
