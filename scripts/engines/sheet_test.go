package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSample(t *testing.T) {
	for _, c := range []struct{ line, name, value string }{
		{`llamacpp:requests_processing 2`, "llamacpp:requests_processing", "2"},
		{`vllm:num_requests_running{engine="0",model_name="a b"} 1.0`, "vllm:num_requests_running", "1.0"},
		{`vllm:prompt_tokens_by_source_total{engine="0",source="local_compute"} 7`, "vllm:prompt_tokens_by_source_total local_compute", "7"},
		{`# TYPE vllm:num_requests_running gauge`, "", ""},
		{``, "", ""},
	} {
		if name, value := sample(c.line); name != c.name || value != c.value {
			t.Errorf("%q: want %q %q, got %q %q", c.line, c.name, c.value, name, value)
		}
	}
}

func TestVerdicts(t *testing.T) {
	out := `--- FAIL: TestReal (60.86s)
    --- FAIL: TestReal/vllm (60.86s)
        --- PASS: TestReal/vllm/many_at_once (0.02s)
        --- FAIL: TestReal/vllm/salt (4.35s)
            --- SKIP: TestReal/vllm/salt/inner (4.35s)
`
	var got []string
	for _, m := range verdict.FindAllStringSubmatch(out, -1) {
		got = append(got, m[1]+" "+m[2])
	}
	if want := "PASS many_at_once, FAIL salt"; strings.Join(got, ", ") != want {
		t.Errorf("want %s, got %s", want, strings.Join(got, ", "))
	}
}

func TestWordsOf(t *testing.T) {
	out := `=== RUN   TestReal
=== RUN   TestReal/vllm
    conform.go:52: vllm: {Model:smol}
=== RUN   TestReal/vllm/cancel
    answers.go:201: the server is free after 80ms
=== RUN   TestReal/vllm/cancel_at_once
    answers.go:180: one
    answers.go:180: two
    answers.go:180: three
    answers.go:180: four
    answers.go:184: waited 20s in vain:
        the server computes nothing
=== NAME  TestReal/vllm/cancel_at_once
    answers.go:190: at last
=== RUN   TestReal/vllm/too_long
--- FAIL: TestReal (60.86s)
    --- FAIL: TestReal/vllm (60.86s)
        --- FAIL: TestReal/vllm/cancel_at_once (20.00s)
        --- FAIL: TestReal/vllm/too_long (0.00s)
`
	for part, want := range map[string]string{
		"cancel at once": "answers.go:180: four answers.go:184: waited 20s in vain: the server computes nothing answers.go:190: at last",
		"too long":       "it says nothing",
	} {
		if got := wordsOf(out, part); got != want {
			t.Errorf("%s: want %q, got %q", part, want, got)
		}
	}
}

func TestPage(t *testing.T) {
	const openMark, closeMark = "<!-- make engines: begin -->", "<!-- make engines: end -->"
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("# A\n\n"+openMark+"\nold\n"+closeMark+"\n\n## Not run\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &sheet{took: time.Minute, versions: []string{"vLLM 0.32.0+cpu, cpu"}}
	s.check("vllm", "a | b", true, "one\ntwo")
	s.skip("vllm", "c", "no network")
	s.check("llamacpp", "d", false, "e")
	s.within("llamacpp", "f", 3*time.Second, 2*time.Second, "3 s")
	s.within("llamacpp", "g", 2*time.Second, 2*time.Second, "2 s")
	for range 2 { // the second time in place of the first
		if err := s.write(path, "0123abc"); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, want := range []string{
		"# A\n", "at commit `0123abc`, in 1m0s", "\nvLLM 0.32.0+cpu, cpu.\n",
		"\n### vLLM\n\n| what | seen | |\n|---|---|---|\n| a \\| b | one two | ok |\n| c | no network | NOT RUN |\n",
		"\n### llama.cpp\n", "| d | e | FAILED |\n| f | 3 s | LATE |\n| g | 2 s | ok |\n", closeMark + "\n\n## Not run\n",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("not once: %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "old") {
		t.Error("the table before is still there")
	}
	if err := os.WriteFile(path, []byte("# A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.write(path, "0123abc"); err == nil {
		t.Error("a page without marks was written")
	}
	if s.count(bad) != 1 || s.count(skipped) != 1 {
		t.Errorf("%d rows failed and %d were not run, want one of each", s.count(bad), s.count(skipped))
	}
}
