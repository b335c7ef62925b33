package gen

import (
	"fmt"
	"strings"

	"github.com/agentinfer/dyn/parsers"
)

// File is one that is written.
type File struct {
	Name string
	Data []byte
}

// Try reads the samples with the spec; the error lists those that disagree.
func (r *Result) Try() error { return r.try(r.Spec) }

func (r *Result) try(spec *parsers.Spec) error {
	var bad []string
	for _, s := range r.Samples {
		if err := s.try(spec); err != nil {
			bad = append(bad, fmt.Sprintf("sample %s: %v", s.ID, err))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d samples disagree\n%s", len(bad), len(r.Samples), strings.Join(bad, "\n"))
	}
	return nil
}

// Check holds a spec that was written before, and maybe finished by hand,
// against what was found now: the template has to be the same, and the spec has
// to read the probes and the samples. A template that prints calls with loss
// cannot be read back: of its probes only those without calls count, and there
// have to be samples with calls.
func (r *Result) Check(spec *parsers.Spec) error {
	var bad []string
	if was, is := spec.Evidence.Template, r.Spec.Evidence.Template; was != is {
		bad = append(bad, fmt.Sprintf("the template changed: its SHA-256 was %s, it is %s", was, is))
		for _, d := range Differences(r.Spec, spec) {
			bad = append(bad, "derived now: "+d)
		}
	}
	lossy := r.Spec.Evidence.Verified == Lossy || r.Spec.Evidence.Verified == Unknown || r.Spec.Evidence.Verified == NoCalls
	calls := false
	for _, s := range r.Samples {
		calls = calls || s.Expect != nil && len(s.Expect.Calls) > 0
	}
	for _, f := range failures(spec, r.Probes, true, true) {
		if lossy && calls && len(f.Probe.Calls) > 0 {
			continue // the samples say how calls are written
		}
		bad = append(bad, f.Err.Error())
	}
	if lossy && !calls {
		bad = append(bad, "the template does not tell how calls are written: --samples with recorded calls and what they say have to")
	}
	if err := r.try(spec); err != nil {
		bad = append(bad, err.Error())
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s", strings.Join(bad, "\n"))
	}
	return nil
}
