package parsers

import (
	"sync"

	"github.com/agentinfer/dyn/turn"
)

// Format is what the answers of a model are read with: how its calls are
// written, and its reasoning. It does not change and is shared by all turns. A
// nil *Format reads nothing: all is text.
type Format struct {
	calling  *Spec // how calls are written; nil when they stay text
	thinking *Spec // how reasoning is; nil when it stays text
	think    *Reasoning
	live     [behind + 1]marks
	ends     marks // what closes reasoning
	mute     *Format
	suffix   string    // of its tags, where others may stand
	learns   []string  // the beginnings of tags up to it
	kits     sync.Pool // *kit
}

// kit is what a Stream needs for calls, and its memory. It is used again.
type kit struct {
	reader reader
	series series // the reader, where it is one
	tools  *tools
	memory

	channels *channels // tables of a frame, once there was one
}

// memory are the buffers of a Stream.
type memory struct {
	store []byte // pushed text
	ws    []byte // white space, held until text follows
	raw   []byte // of the call, while it may yet be text
	junk  []byte // behind a call, while it is unknown what it is
	acc   []byte // text of an event not yet in dst
}

// Format returns the format of calls and that of reasoning, by their names or
// aliases; with "" they stay text. An unknown name is an error that tells the
// known ones.
func (s *Set) Format(tools, reasoning string) (*Format, error) {
	var calling, thinking *Spec
	var err error
	if tools != "" {
		if calling, err = s.Lookup(tools, Tools); err != nil {
			return nil, err
		}
	}
	if reasoning != "" {
		if thinking, err = s.Lookup(reasoning, Thinking); err != nil {
			return nil, err
		}
	}
	return newFormat(calling, thinking), nil
}

// FormatOf returns the format of one spec, calls and reasoning. A spec that is
// wrong is an error.
func FormatOf(spec *Spec) (*Format, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	return newFormat(spec.part(Tools), spec.part(Thinking)), nil
}

// newFormat returns the format of two specs, each nil to leave its part text.
func newFormat(calling, thinking *Spec) *Format {
	f := &Format{calling: calling, thinking: thinking}
	if thinking != nil {
		if f.think = thinking.Reasoning; f.think != nil {
			f.ends.add(closesThought, f.think.Close...)
		}
	}
	for _, spec := range []*Spec{calling, thinking} {
		if spec != nil {
			f.mark(spec)
		}
	}
	for _, spec := range []*Spec{calling, thinking} {
		if list := spec.learns(); len(list) > 0 {
			f.suffix, f.learns = spec.Suffix, append(f.learns, list...)
		}
	}
	for _, at := range []state{atStart, inText, inThought} {
		f.live[at].add(learned, f.learns...)
	}
	f.mute = f
	if calling != nil {
		f.mute = newFormat(nil, thinking)
	}
	return f
}

// Names are the names of the formats of calls and of reasoning, "" where they
// stay text.
func (f *Format) Names() (tools, reasoning string) {
	if f == nil {
		return "", ""
	}
	if f.calling != nil {
		tools = f.calling.Name
	}
	if f.thinking != nil {
		reasoning = f.thinking.Name
	}
	return tools, reasoning
}

// Calls reports whether calls are read.
func (f *Format) Calls() bool { return f != nil && f.calling != nil }

// Mute returns the format without calls: they stay text.
func (f *Format) Mute() *Format {
	if f == nil {
		return nil
	}
	return f.mute
}

// Begins reports whether an answer begins inside reasoning when the prompt
// ends with tail. known is false where tail does not say so, and the model
// decides.
func (f *Format) Begins(tail string) (thinks, known bool) {
	if f == nil || f.think == nil {
		return false, false
	}
	if f.suffix != "" {
		f = f.suffixed(f.suffixIn(tail))
	}
	does, known := f.live[atStart].end(tail)
	if known {
		return does == opensThought, true
	}
	return f.think.Always, f.think.Always
}

// Open returns a Stream for one answer. The names and the set in the options
// do not count.
func (f *Format) Open(o Options) *Stream {
	if f == nil {
		f = nothing
	}
	if f.suffix != "" {
		f = f.suffixed(f.suffixIn(o.Tail))
	}
	s := &Stream{f: f, o: o}
	if s.o.NewID == nil {
		s.o.NewID = newID
	}
	if s.kit, _ = f.kits.Get().(*kit); s.kit == nil {
		s.kit = f.newKit()
	}
	s.offered = s.kit.tools
	s.offered.offer(o.Offered)
	s.memory = s.kit.memory
	s.begin()
	if spec := framed(f.calling, f.thinking); spec != nil {
		s.frame = newFrame(s, spec, spec == f.thinking)
	}
	return s
}

// nothing is the format that reads nothing.
var nothing = newFormat(nil, nil)

// newKit returns what one Stream needs.
func (f *Format) newKit() *kit {
	k := &kit{tools: newTools(nil)}
	if f.calling != nil {
		k.reader = newReader(f.calling, k.tools)
		k.series, _ = k.reader.(series)
	}
	return k
}

// keepBytes is the most memory that a kit keeps for the next turn.
const keepBytes = 32 << 10

// putBack returns the kit of a Stream that is used up.
func (s *Stream) putBack() {
	k := s.kit
	if s.kit = nil; k == nil {
		return
	}
	k.tools.offer(nil)
	k.memory = s.memory
	k.memory.trim()
	s.memory = memory{}
	s.f.kits.Put(k)
}

// trim lets go of buffers that have grown large, and empties the others.
func (m *memory) trim() {
	for _, b := range []*[]byte{&m.store, &m.ws, &m.raw, &m.junk, &m.acc} {
		if *b = (*b)[:0]; cap(*b) > keepBytes {
			*b = nil
		}
	}
}

// mark puts the markers of a spec where they count.
func (f *Format) mark(spec *Spec) {
	if spec == f.calling {
		for _, at := range []state{inText, inThought, behind} {
			f.live[at].add(opensSection, spec.Section.Open...)
			f.live[at].add(opensCall, heads(spec.Call.Open)...)
		}
		f.live[inSection].add(opensCall, heads(spec.Call.Open)...)
		f.live[inSection].add(closes, spec.Section.Close...)
		f.live[inText].add(closes, distinct(spec.Section.Close)...)
		f.live[inText].add(closes, distinct(spec.Call.Close)...)
		f.live[behind].add(closes, spec.Section.Close...)
		f.live[behind].add(closes, spec.Call.Close...)
		for _, t := range spec.Arg.Close {
			if head(t) == t {
				f.live[behind].add(closes, t)
			}
		}
		if spec.Call.Fence {
			f.live[behind].add(closes, "```")
		}
	}
	if t := spec.Reasoning; t != nil && t == f.think {
		f.live[atStart].add(opensThought, t.Open...)
		f.live[atStart].add(closesThought, t.Close...)
		f.live[inThought].add(closesThought, t.Close...)
		f.live[inThought].add(opensThought, t.Open...)
		f.live[inText].add(closesThought, t.Close...)
		if t.Anywhere {
			f.live[inText].add(opensThought, t.Open...)
		}
	}
	for _, at := range []state{atStart, inText, behind} {
		f.live[at].add(absorbed, spec.Absorb...)
	}
	for _, at := range []state{atStart, inText, inThought, behind} {
		f.live[at].add(absorbed, spec.Tokens.Strip...)
		f.live[at].add(absorbed, spec.Tokens.Stop...)
	}
}

// distinct leaves out closers that prose may hold without meaning them.
func distinct(m Marks) Marks {
	var kept Marks
	for _, t := range m {
		if len(t) > 3 {
			kept = append(kept, t)
		}
	}
	return kept
}

// offer puts other tools on offer.
func (t *tools) offer(list []turn.Tool) {
	t.list = list
	clear(t.read)
}
