package gen

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/parsers"
)

// A spec that the template does not settle is finished the way SKILL.md tells:
// recorded outputs, one field after the other, and the check until it passes.
func TestFinish(t *testing.T) {
	for name, steps := range map[string][]struct{ from, to string }{
		// The history prints calls between other tags than the model writes, and strings without quotes.
		"fir": {{"open: <ran>", "open: <py>"}, {"close: </ran>", "close: </py>"}},
		// The history prints no form at all.
		"gorse": {{"name: gorse\n", "name: gorse\ngrammar: name_json\n"}, {"parallel: true", "parallel: true\ncall:\n  open: <<call\n  close: \">>\""}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Generate(own(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Spec.Evidence.Verified; v != Lossy && v != Unknown {
				t.Fatalf("grade %s", v)
			}
			files, err := r.Files()
			if err != nil {
				t.Fatal(err)
			}
			written := map[string][]byte{}
			for _, f := range files {
				written[f.Name] = f.Data
			}
			spec := written[name+".yaml"]
			if !bytes.Contains(written["SKILL.md"], []byte("--check --samples")) || !bytes.Contains(written["reader.go.txt"], []byte("func (r *"+name+"Reader) read")) {
				t.Error("the guide or the frame of a reader is missing")
			}
			if !bytes.Contains(spec, []byte("# undecided: ")) {
				t.Errorf("no field is marked as undecided:\n%s", spec)
			}
			if err := checkYAML(r, spec); err == nil || !strings.Contains(err.Error(), "--samples") && !strings.Contains(err.Error(), "grammar") {
				t.Errorf("without samples the check says %v", err)
			}
			data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			if r.Samples, err = ReadSamples(data); err != nil {
				t.Fatal(err)
			}
			for _, s := range steps {
				if err := checkYAML(r, spec); err == nil {
					t.Fatalf("the check passes before %q is there", s.to)
				}
				edited := strings.Replace(string(spec), s.from, s.to, 1)
				if edited == string(spec) {
					t.Fatalf("nothing to change %q in:\n%s", s.from, spec)
				}
				spec = []byte(edited)
			}
			if err := checkYAML(r, spec); err != nil {
				t.Errorf("the finished spec does not pass: %v\n%s", err, spec)
			}
		})
	}
}

// checkYAML is what gen --check does with the spec of a folder.
func checkYAML(r *Result, data []byte) error {
	spec, err := parsers.ReadSpec(data)
	if err != nil {
		return err
	}
	return r.Check(spec)
}
