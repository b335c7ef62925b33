package gen

import (
	"fmt"

	"github.com/agentinfer/dyn/parsers"
)

// Verify reads a probe with a spec, in all splits of its text, and returns an
// error that tells what is not as it was put in.
func Verify(spec *parsers.Spec, p Probe) error {
	format, err := parsers.FormatOf(spec)
	if err != nil {
		return err
	}
	return verify(format, p, true, true)
}

// verify is Verify; without every it takes the text whole only.
func verify(format *parsers.Format, p Probe, typed, every bool) error {
	for split := range chunkings(p.Text) {
		a := read(format, p.Tail, typed, split)
		if d := a.differs(p); d != "" {
			return fmt.Errorf("probe %q: %s", p.Name, d)
		}
		if !every {
			break
		}
	}
	return nil
}

// Failure is a probe that is not read back as it was put in.
type Failure struct {
	Probe Probe
	Err   error
}

// failures are the probes that a spec does not read back.
func failures(spec *parsers.Spec, probes []Probe, typed, every bool) (all []Failure) {
	format, err := parsers.FormatOf(spec)
	if err != nil {
		return []Failure{{Err: err}}
	}
	for _, p := range probes {
		if err := verify(format, p, typed, every); err != nil {
			all = append(all, Failure{p, err})
		}
	}
	return all
}

// grade judges a spec by its probes, and returns those that fail. With proof
// they are read in every split.
func grade(spec *parsers.Spec, probes []Probe, proof bool) (string, []Failure) {
	bad := failures(spec, probes, true, proof)
	switch {
	case len(bad) > 0:
		return Lossy, bad
	case len(failures(spec, probes, false, false)) > 0:
		return Typed, nil
	}
	return Exact, nil
}
