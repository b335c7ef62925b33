package main

import (
	"strings"
	"testing"
)

func TestTabulate(t *testing.T) {
	results := `{"subject":"Codex","version":"1","case":"one answer","state":"ok","note":"1 turns"}
{"subject":"Pi","version":"2","case":"one answer","state":"FAILED","note":"first line\nsecond"}
{"subject":"Pi","version":"2","case":"subagent","state":"none","note":"it has no subagents"}
{"subject":"openai for Node","version":"3","case":"text","state":"ok","note":""}
`
	var b strings.Builder
	if err := tabulate(&b, strings.NewReader(results), "make clients", "abc", "2026-01-02"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"`make clients` on 2026-01-02 at commit abc",
		"| | Codex 1 | Pi 2 |\n|---|---|---|\n| one answer | ok | FAILED |\n| subagent | – | – |\n",
		"| | openai for Node 3 |\n|---|---|\n| text | ok |\n",
		"* Pi, one answer: first line.\n* Pi, subagent: it has no subagents.\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if err := tabulate(&b, strings.NewReader("{"), "x", "y", "z"); err == nil {
		t.Error("half a line is no error")
	}
}

func TestWithin(t *testing.T) {
	name := memory("/home/dyn/my.project")
	if want := "/.claude/projects/-home-dyn-my-project/memory/"; name != want {
		t.Fatalf("want %s, got %s", want, name)
	}
	text := "before " + name + " after"
	for at, want := range map[int]bool{
		6: false, 7: true, 7 + len(name) - 1: true, 7 + len(name): false, len(text) - 1: false,
	} {
		if got := within(text, at, name); got != want {
			t.Errorf("byte %d: want %v, got %v", at, want, got)
		}
	}
}

func TestSamples(t *testing.T) {
	m, err := samples(`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="sim"} 2.0
vllm:request_success_total{engine="0",model_name="sim",finished_reason="stop"} 3.0
vllm:request_success_total{engine="0",model_name="sim",finished_reason="abort"} 1.0
`)
	if err != nil || m["num_requests_running"] != 2 || m["request_success_total stop"] != 3 || m["request_success_total abort"] != 1 {
		t.Fatalf("%v, %v", m, err)
	}
}
