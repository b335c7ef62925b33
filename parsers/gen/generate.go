package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/prompt/jinja"
)

// Model is what is known of a model: its template, and what its tokenizer
// files say.
type Model struct {
	Name      string
	Template  string                 // for turns with tools, where there are several
	Variables map[string]jinja.Value // that the template is always given: bos_token and the like
	Response  []byte                 // response_template of tokenizer_config.json; nil without one
	Added     []Token                // added tokens; nil when unknown
	Stops     []string               // texts that end a turn, by generation_config.json
}

// Token is an added token.
type Token struct {
	Text    string
	Special bool
}

// Grades of a spec, in Evidence.Verified.
const (
	Exact   = "exact"   // every probe is read back as it was given
	Typed   = "typed"   // so it is, with the schemas of the tools
	Lossy   = "lossy"   // what the template prints does not tell what was given
	Unknown = "unknown" // its calls have no shape that is known here
	NoCalls = "none"    // it prints no calls

	Documented = "documented" // the template prints no calls; the spec is that of the model's response_template
)

// Result is what Generate found.
type Result struct {
	Spec      *parsers.Spec
	Probes    []Probe
	Manner    Manner
	Modes     map[string]string // prompt tails by mode
	Prefix    []Stability
	Notes     []string // what a person should know
	Failures  []Failure
	Like      *Match // the shipped spec that reads all probes; nil without one
	Near      *Match // else the nearest one
	Undecided []Undecided
	Derived   []Failure // probes that what was derived does not read, where a shipped spec was taken
	Samples   []Sample  // recorded outputs, that the caller adds

	matches  []Match
	Renders  int
	Switches []string // names that the template reads beside the conversation
}

// unmarked leaves out the probes with text beside a call where calls have no
// marker: nothing tells these from text that quotes one, and no spec says more.
func (r *Result) unmarked() {
	if !r.Spec.Bare {
		return
	}
	kept := slices.DeleteFunc(r.Probes, func(p Probe) bool { return p.Content != "" && len(p.Calls) > 0 })
	if len(kept) < len(r.Probes) {
		r.Notes = append(r.Notes, "calls have no marker: one is believed where it begins the answer, and behind text it is text; what the template prints for both together is not among the probes")
	}
	r.Probes = kept
}

// settle puts markers around text and those that end turns into the spec: what
// stands before the text of an answer too. A marker of reasoning is neither.
func (r *Result) settle(f frame) {
	s := r.Spec
	for _, p := range r.Probes {
		before, _, found := strings.Cut(p.Text, wordText)
		if !found || len(p.Calls) > 0 {
			continue
		}
		if s.Reasoning != nil {
			if i := strings.LastIndex(before, s.Reasoning.Close[0]); i >= 0 {
				before = before[i+len(s.Reasoning.Close[0]):]
			}
		}
		s.Absorb = append(s.Absorb, chunks(before, f.tail)...)
	}
	keep := func(all []string) (kept []string) {
		for _, m := range all {
			if m != "" && !slices.Contains(kept, m) && (s.Reasoning == nil || !slices.Contains(append(s.Reasoning.Open, s.Reasoning.Close...), m)) {
				kept = append(kept, m)
			}
		}
		return kept
	}
	s.Absorb, s.Tokens.Stop = keep(s.Absorb), keep(f.stops)
}

// Undecided is a field of the spec that the probes do not settle.
type Undecided struct{ Key, Why string }

// Manner is how the template has to be given a conversation.
type Manner struct {
	ArgumentsAsText bool
	ContentBeside   bool // content beside calls is printed
	ContentBehind   bool // behind the calls, that is
	IDs             bool // the call's id is printed
	InParts         bool // content has to be a list of parts
}

// Stability says whether prompts of one conversation begin with each other.
type Stability = stability

// Generate derives a spec from a template, by rendering small conversations
// that differ in one thing. The error is that of a template that cannot be
// parsed, or takes too much; one whose calls have no known shape gives a
// Result with the grade Unknown.
func Generate(model Model) (*Result, error) { return generate(parsers.Builtin(), model, true) }

// generate is Generate with the specs of a set. Without proof it reads probes
// in one piece only, and does not look at how prompts grow.
func generate(set *parsers.Set, model Model, proof bool) (*Result, error) {
	fixed := []variable{{"bos_token", "<BOS>"}, {"eos_token", "<EOS>"}}
	for name, v := range model.Variables {
		fixed = append(fixed, variable{name, v})
	}
	t, err := newTrial(model.Template, fixed)
	if err != nil {
		return nil, err
	}
	if t.asks("functions") {
		t.fixed = append(t.fixed, variable{"functions", string(t.tools)}, variable{"datetime", "2026"})
	}
	sum := sha256.Sum256([]byte(model.Template))
	r := &Result{Spec: &parsers.Spec{Name: model.Name}}
	if t.tamed {
		r.Notes = append(r.Notes, "the template changes lists, which llama.cpp allows and the sandbox of Hugging Face, and dyn's, do not: probes are made with assignments in their place, prompts have to be the engine's")
	}
	r.Spec.Evidence.Template = hex.EncodeToString(sum[:])
	for _, name := range t.jinja.Names() {
		if !notSwitches[name] {
			r.Switches = append(r.Switches, name)
		}
	}
	t.parts = t.wantsParts()
	modes := t.modes()
	r.Modes = tails(modes)
	m, calls := t.ask()
	if t.err != nil {
		return nil, t.err
	}
	if !calls {
		m = &manner{say: wordText}
	}
	f := t.framed(m)
	var by *thinker
	r.Spec.Reasoning, by, r.Spec.Absorb = t.thought(m, f, modes)
	r.Spec.Absorb = append(r.Spec.Absorb, f.absorbed()...)
	f.stops = t.stops(m, f, model.Stops)
	if !calls {
		r.Probes = t.probes(m, f, by, r.Spec.Reasoning, false)
		r.settle(f)
		r.Spec.Evidence.Verified = NoCalls
		r.Notes = append(r.Notes, "the template prints no calls of tools"+why(t.refused))
		if r.respond(model, proof); r.Spec.Grammar == "" {
			r.undecided()
		}
		r.Near = nearest(set, model.Template)
		r.Renders = t.renders
		return r, t.err
	}
	if t.apart(m, f) {
		m.say, m.printed, m.after = "", false, false
	}
	r.Manner = Manner{m.text, m.printed, m.after, t.printsID(m), t.parts}
	b := t.look(m, f)
	if t.err != nil {
		return nil, t.err
	}
	if !b.shape(r.Spec, f) {
		r.Spec.Grammar, r.Spec.Section, r.Spec.Call, r.Spec.Arg = "", parsers.Pair{}, parsers.Call{}, parsers.Arg{}
		r.Notes = append(r.Notes, fmt.Sprintf("a call is printed as %q, which has no shape that is known", clip(b.single)))
	} else if r.Spec.Grammar == parsers.Tagged {
		t.encode(r.Spec, m, f)
	}
	if s := &r.Spec.Section; len(s.Open) == 0 && len(s.Close) > 0 { // it closes nothing: it ends the turn
		f.stops = append(f.stops, tags(s.Close[0])...)
		s.Close = nil
	}
	f.stops = append(f.stops, b.ends...)
	r.Probes = t.probes(m, f, by, r.Spec.Reasoning, true)
	r.unmarked()
	r.settle(f)
	r.Spec.Tokens.NeedSpecial = r.special(model.Added)
	r.Spec.Tokens.Strip = r.strip(model.Added, model.Template)
	r.judge(set, model, proof)
	if !proof {
		return r, t.err
	}
	r.Prefix = t.stable(m, r.Spec.Reasoning)
	for _, s := range r.Prefix {
		if s.Mode == "on" {
			r.Spec.Prefix.On = s.Marks
		} else {
			r.Spec.Prefix.Off = s.Marks
		}
	}
	r.Renders = t.renders
	return r, t.err
}

// judge grades what was derived and looks for a shipped spec that is like it,
// or better.
func (r *Result) judge(set *parsers.Set, model Model, proof bool) {
	e := &r.Spec.Evidence
	e.Probes = len(r.Probes)
	if r.Spec.Grammar == "" {
		e.Verified = Unknown
	} else if err := r.Spec.Check(); err != nil {
		e.Verified = Unknown
		r.Notes = append(r.Notes, "what was derived is no spec: "+err.Error())
	} else {
		e.Verified, r.Failures = grade(r.Spec, r.Probes, proof)
	}
	r.respond(model, proof)
	all := matches(set, r.Spec, r.Probes, model.Template, proof)
	if r.matches = all; len(all) == 0 {
		return
	}
	if best := all[0]; best.exact() {
		r.Like = &best
	} else {
		r.Near = nearest(set, model.Template)
	}
	if e.Verified == Exact || e.Verified == Typed {
		return
	}
	if r.Like != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the form that was derived does not read all probes; the shipped spec %s does, and is taken", r.Like.Spec.Name))
		r.Derived = r.Failures
		r.take(r.Like.Spec)
		e.Verified, r.Failures = grade(r.Spec, r.Probes, proof)
		return
	}
	if r.Near != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("nearest shipped spec: %s, of whose markers the template holds %.0f %%", r.Near.Spec.Name, 100*r.Near.Markers))
		if e.Verified == Unknown {
			r.take(r.Near.Spec)
			e.Verified, r.Failures = grade(r.Spec, r.Probes, proof)
			if e.Verified != Lossy {
				e.Verified = Lossy
			}
		}
	}
	r.undecided()
}

// respond takes the spec that the model's response_template says, unless the
// probes show that what was derived is better.
func (r *Result) respond(model Model, proof bool) {
	if model.Response == nil {
		return
	}
	const what = "tokenizer_config.json has a response_template"
	spec, err := FromResponse(model.Name, model.Response)
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s, which no spec can say: %v; the spec rests on the chat template", what, err))
		return
	}
	e := &r.Spec.Evidence
	given, bad := grade(spec, r.Probes, proof)
	ranks := []string{Unknown, NoCalls, Lossy, Typed, Exact}
	switch {
	case spec.Grammar == "":
		r.Notes = append(r.Notes, what+" without calls; the spec rests on the chat template")
		return
	case slices.Index(ranks, given) < slices.Index(ranks, e.Verified):
		r.Notes = append(r.Notes, fmt.Sprintf("%s, but what is derived from the chat template reads more: %v", what, bad[0].Err))
		return
	}
	if e.Verified == NoCalls {
		if given = Documented; len(bad) > 0 {
			given = Lossy
		}
	}
	stops, absorb := r.Spec.Tokens, r.Spec.Absorb
	r.take(spec)
	if e.Verified, r.Failures = given, bad; len(spec.Tokens.Stop) == 0 {
		r.Spec.Tokens = stops
	}
	for _, m := range absorb {
		if !slices.Contains(r.Spec.Absorb, m) {
			r.Spec.Absorb = append(r.Spec.Absorb, m)
		}
	}
	r.Notes = append(r.Notes, what+": the spec is what it says, read back from the chat template's own prints")
}

// why tells what a template raised.
func why(err error) string {
	if err == nil {
		return ""
	}
	return ": it raises " + err.Error()
}

// take makes the spec a copy of a shipped one, under its own name and with
// what was found of its prompts.
func (r *Result) take(spec *parsers.Spec) {
	own := *spec
	own.Name, own.Models, own.Aliases = r.Spec.Name, nil, parsers.Aliases{}
	own.Evidence, own.Prefix = r.Spec.Evidence, r.Spec.Prefix
	if own.Reasoning != nil && r.Spec.Reasoning != nil {
		t := *own.Reasoning
		t.Field, t.Tails, t.History = r.Spec.Reasoning.Field, r.Spec.Reasoning.Tails, r.Spec.Reasoning.History
		own.Reasoning = &t
	}
	*r.Spec = own
	if r.Like != nil {
		r.Like.Differs = nil
	}
}

// undecided lists the fields that failing probes leave open.
func (r *Result) undecided() {
	if r.Spec.Grammar == "" {
		r.Undecided = append(r.Undecided, Undecided{"name", "no grammar: calls " + choice(r.Spec.Evidence.Verified == NoCalls, "are not printed", "look like none that is known")})
		return
	}
	for _, f := range r.Failures {
		key := "grammar"
		switch {
		case len(f.Probe.Calls) == 0 && f.Probe.Reasoning != "":
			key = "reasoning"
		case len(f.Probe.Calls) == 0:
			continue
		}
		r.Undecided = append(r.Undecided, Undecided{key, f.Err.Error()})
		return
	}
}
