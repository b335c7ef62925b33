package parsers

import "slices"

// newReader returns the reader of a spec's calls; offered are the tools that
// can be called.
func newReader(spec *Spec, offered *tools) reader {
	switch spec.Grammar {
	case JSONCall:
		if slices.Contains(spec.Call.Open, pythonTag) {
			return newIPython(spec, offered)
		}
		return newJSONReader(spec)
	case Tagged:
		return newTagged(spec, offered)
	case NameJSON:
		return newNamedReader(spec, offered)
	case Pythonic:
		return newPython(spec, offered)
	case PseudoJSON:
		return newPseudo(spec, offered)
	}
	return nil
}

// readable reports whether there is a reader for a grammar.
func readable(g Grammar) bool {
	return newReader(&Spec{Grammar: g}, newTools(nil)) != nil
}

// json reports whether the arguments of calls are JSON as a whole.
func (s *Spec) json() bool { return s.Grammar == JSONCall || s.Grammar == NameJSON }

// framed is the spec that has messages, or nil.
func framed(specs ...*Spec) *Spec {
	for _, s := range specs {
		if s != nil && s.Frame != nil {
			return s
		}
	}
	return nil
}

// newFrame returns the reader of a spec's messages. think says whether
// reasoning is told from text.
func newFrame(s *Stream, spec *Spec, think bool) framer { return newChannels(s, spec, think) }
