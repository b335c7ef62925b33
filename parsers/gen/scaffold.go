package gen

import (
	"fmt"
	"strings"
)

// Files are what is written for a result: the spec, a test, a report; and what
// it takes to finish a spec that the template does not settle.
func (r *Result) Files() ([]File, error) {
	spec, err := r.YAML()
	if err != nil {
		return nil, err
	}
	test, err := r.Test()
	if err != nil {
		return nil, err
	}
	name := r.Spec.Name
	files := []File{
		{name + ".yaml", spec},
		{identifier(name) + "_test.go", test},
		{"report.md", []byte(r.Report())},
	}
	if v := r.Spec.Evidence.Verified; v != Exact && v != Typed && v != Documented {
		files = append(files, File{"reader.go.txt", []byte(skeleton(name))}, File{"SKILL.md", []byte(r.skill())})
	}
	return files, nil
}

// skill tells an engineer, or a coding agent, how to finish the spec.
func (r *Result) skill() string {
	name := r.Spec.Name
	var open strings.Builder
	for _, u := range r.Undecided {
		fmt.Fprintf(&open, "* `%s`: %s\n", u.Key, u.Why)
	}
	if open.Len() == 0 {
		open.WriteString("* how a call is written: the template prints none that could be read\n")
	}
	return fmt.Sprintf(`---
name: finish-parser-%[1]s
description: Finish the parser spec of %[1]s, which its chat template does not settle.
---

# Finish the parser of %[1]s

%[1]s.yaml is what could be derived from the chat template. Open is:

%[2]s
The template is not the last word: what counts is what the model writes. So collect raw outputs first, with special tokens and
without the token that ends the turn. An engine gives them where nothing parses: vLLM and SGLang at /v1/completions with
"skip_special_tokens": false, llama.cpp at /completion when it was started with --special; the prompt is what the chat template
prints. The model's own documentation often has some. Put each on a line of %[1]s.parser/samples.jsonl with what it says:

    {"id": "two calls", "text": "…", "tail": "end of the prompt", "tools": [{"type": "function", "function": {…}}],
     "expect": {"content": null, "reasoning": null, "calls": [{"name": "f", "arguments": {"x": 1}}]}}

(one line each; tail and tools may be left out). One call, two calls, a call without arguments, text before a call, a value with
quotes and line feeds: five samples tell most. Do not invent outputs: a sample that the model did not write proves nothing.

Then repeat, in the folder where gen was run (the one that holds %[1]s.parser; <model> is what gen was given):

1. Look at how it is read now: put a raw output into one.txt, then `+"`dyn parsers run ./%[1]s.parser/%[1]s.yaml one.txt --tail '…'`"+`.
   Every event is a line: text that should be a call shows which marker is not found.
2. Change one field of %[1]s.yaml. `+"`grammar`"+` comes first: json_call, name_json, tagged, pseudo_json, pythonic. Then section,
   call and arg: markers without the white space around them. A field that is not decided has a comment. As a whole it looks so:

       grammar: pythonic
       section: {open: "<|tool_call_start|>", close: "<|tool_call_end|>"}   # around all calls
       call: {open: "<call ", name_end: ">", close: "</call>"}               # around one; name_json and tagged
       arg: {open: "<arg ", mid: ">", close: "</arg>"}                       # around one argument; tagged
       json: {name: name, args: arguments, container: list}                  # keys; json_call
       bare: true                                                            # where calls have no marker

3. `+"`dyn parsers gen <model> --name %[1]s --check --samples %[1]s.parser/samples.jsonl`"+`. It lists the probes and samples that are
   not read as they should be, and ends with exit code 0 when none is left.

Compare with a spec that is like it: `+"`dyn parsers ls`"+` lists them, report.md names the nearest, and a line of dyn parsers run with the
name of one in place of the file shows whether it reads the sample already: then no spec is needed, but `+"`dyn up --parser <that name>`"+`.

When no spec can say it, the form needs a reader in Go. reader.go.txt is its frame: copy it to parsers/%[3]s.go in the
repository of dyn, fill it in, add its grammar in grammar.go, and the rows of %[3]s_test.go are its test.

Done is: step 3 passes. Add --install to that command, and `+"`dyn up --parser %[1]s`"+` uses the spec. Where the repository of dyn is at
hand, put the folder into it and `+"`go test`"+` there passes too; a template that prints calls with loss fails at those rows, which may go.
`, name, open.String(), identifier(name))
}

// skeleton is the frame of a reader in Go.
func skeleton(name string) string {
	return fmt.Sprintf(`package parsers

// %[1]sReader reads a call of %[2]s. To be filled in: see SKILL.md.
type %[1]sReader struct {
	o *out
}

// begin makes it ready for a call.
func (r *%[1]sReader) begin(o *out) { *r = %[1]sReader{o: o} }

// read takes what is settled of b: more bytes may follow unless last is set.
// It calls r.o.name(name, id) once, then r.o.args with pieces of one JSON
// object, and says whole when the call has ended.
func (r *%[1]sReader) read(b []byte, last bool) (n int, p progress) {
	// Find the name, and tell when it cannot become one any more:
	return 0, broken
}

// finish closes the arguments of a call that breaks off; with cut nothing is
// added. It reports whether a name was said.
func (r *%[1]sReader) finish(cut bool) bool { return r.o.said }
`, identifier(name), name)
}
