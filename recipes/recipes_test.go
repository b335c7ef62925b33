package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestEmbeddedRecipesRead(t *testing.T) {
	all := List()
	if len(all) == 0 {
		t.Fatal("no recipe is embedded")
	}
	for _, r := range all {
		data, err := files.ReadFile(r.Name + ".yaml")
		if err != nil {
			t.Errorf("%s: its file has another name", r.Name)
			continue
		}
		if _, err := Read(data, []string{"hermes", "think"}); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

func TestSim(t *testing.T) {
	r, err := Find("sim")
	if err != nil {
		t.Fatal(err)
	}
	if r.Model != "sim" || r.Context != 262144 || !r.BindToDaemon || r.Flags["kv-tokens"] != "400000" {
		t.Errorf("sim reads as %+v", r)
	}
}

func TestFindUnknown(t *testing.T) {
	_, err := Find("simm")
	var fault *turn.Fault
	if !errors.As(err, &fault) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error is %v", err)
	}
	if !strings.Contains(fault.Why, "sim") || fault.Try != "dyn up sim" {
		t.Errorf("fault is %+v", fault)
	}
}

func TestTiny(t *testing.T) {
	r, err := Find("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if r.Simulated() || !r.UsesEngine() || r.Fetch == nil || r.Fetch.Bytes != 98362432 || r.Parsers != (Parsers{}) || r.BindToDaemon {
		t.Errorf("tiny reads as %+v", r)
	}
}

func TestFindFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte("name: mine\nmodel: m\nengine: vllm\ncommand: ['{self}', worker, sim]\nvision: true\ntrust_remote_code: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Find(path)
	if err != nil || r.Name != "mine" || !r.Simulated() || !r.Vision || !r.TrustRemoteCode {
		t.Fatalf("it reads as %+v, %v", r, err)
	}
	if err := os.WriteFile(path, []byte("name: mine\nmodel: m\nengine: vllm\ncommand: [a]\nmodel_dir: weights\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Find(path); err != nil || r.ModelDir != filepath.Join(filepath.Dir(path), "weights") {
		t.Errorf("a folder beside the file: %+v, %v", r, err)
	}
	if _, err := Find(path + ".yml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("name: mine\nmodle: m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a bad file: %v", err)
	}
}

func TestReadIsStrict(t *testing.T) {
	const good = "name: x\nmodel: m\nengine: vllm\ncommand: [vllm, serve]\n"
	sum := strings.Repeat("a1", 32)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"typo", good + "contxt: 5\n", []string{"line 5", `"contxt"`, `"context"`}},
		{"far from all", good + "zzzzzzzzzz: 5\n", []string{"line 5", "known: name"}},
		{"nested", good + "parsers:\n  tool: hermes\n", []string{"line 6", `"tools"`}},
		{"wrong kind", good + "context: many\n", []string{`line 5: "many" is no whole number`}},
		{"a switch that is none", good + "vision: perhaps\n", []string{`line 5: "perhaps" is neither true nor false`}},
		{"no model", "name: x\nengine: vllm\ncommand: [a]\n", []string{"model is missing"}},
		{"unknown parser", good + "parsers: {tools: xml}\n", []string{`"xml"`, "hermes"}},
		{"template of a list", good + "template: {a: [1]}\n", []string{"template: a is [1]", "a number"}},
		{"template of nothing", good + "template: {a: }\n", []string{"template: a is"}},
		{"template of no number", good + "template: {a: .inf}\n", []string{"template: a is +Inf"}},
		{"template with a name", good + "template: {a-b: 1}\n", []string{`"a-b" is no name`}},
		{"template of the turn", good + "template: {messages: x}\n", []string{"messages is not for a recipe"}},
		{"template of a text", good + "template: x\n", []string{"line 5"}},
		{"from a hub", good + "fetch: {hub: org/name}\n", []string{"org/name", "not possible yet", "model_dir"}},
		{"from two places", good + "model_dir: /m\nfetch: {package: a==1}\n", []string{"model_dir too"}},
		{"no version", good + "fetch: {package: a, file: b, sha256: " + sum + ", bytes: 1}\n", []string{"package is \"a\"", "a version"}},
		{"an option for a package", good + "fetch: {package: --pre==1, file: b, sha256: " + sum + ", bytes: 1}\n", []string{"package is"}},
		{"no checksum", good + "fetch: {package: a==1, file: b, bytes: 1}\n", []string{"sha256", "64"}},
		{"out of the package", good + "fetch: {package: a==1, file: ../b, sha256: " + sum + ", bytes: 1}\n", []string{"file is"}},
		{"no size", good + "fetch: {package: a==1, file: b, sha256: " + sum + "}\n", []string{"bytes is 0"}},
		{"an address of its own", good + "flags: {host: 0.0.0.0}\n", []string{"flag host: dyn sets it"}},
		{"events for everybody", good + `flags: {kv-events-config: '{"endpoint": "tcp://*:5557"}'}` + "\n", []string{"flag kv-events-config: tcp://*:5557 is open to everybody", "127.0.0.1"}},
		{"lost events for everybody", good + `flags: {kv_events_config.replay_endpoint: 'tcp://0.0.0.0:5657'}` + "\n", []string{"tcp://0.0.0.0:5657 is open"}},
		{"events for everybody, IPv6", good + `flags: {kv-events-config: '{"endpoint":"tcp://[::]:5557"}'}` + "\n", []string{"tcp://[::]:5557 is open"}},
		{"another server for everybody", good + "flags: {grpc-host: 0.0.0.0}\n", []string{"flag grpc-host: 0.0.0.0 is open"}},
		{"and its port", good + "flags: {dist-init-addr: '0.0.0.0:5000'}\n", []string{"flag dist-init-addr: 0.0.0.0:5000 is open"}},
		{"in the command", "name: x\nmodel: m\nengine: vllm\ncommand: [vllm, serve, --host, 0.0.0.0]\n", []string{"command: 0.0.0.0 is open"}},
		{"in one word of it", "name: x\nmodel: m\nengine: vllm\ncommand: [vllm, serve, --host=::]\n", []string{"command: :: is open"}},
		{"in the environment", good + "env: {LLAMA_ARG_HOST: 0.0.0.0}\n", []string{"env LLAMA_ARG_HOST: 0.0.0.0 is open"}},
		{"an address by its variable", good + "env: {VLLM_HOST_IP: 10.0.0.5}\n", []string{"env VLLM_HOST_IP: dyn sets it"}},
		{"a key of its own", good + "env: {LLAMA_API_KEY: k}\n", []string{"env LLAMA_API_KEY: dyn sets it"}},
		{"free ports of SGLang", "name: x\nmodel: m\nengine: sglang\ncommand: [a]\nflags: {kv-events-config: '{\"endpoint\":\"tcp://*:0\"}'}\n", []string{"tcp://*:0 is open"}},
		{"a key spelled otherwise", good + "flags: {api_key: k}\n", []string{"flag api_key: dyn sets it"}},
		{"an address in the name", good + "flags: {'host=0.0.0.0': x}\n", []string{`flag "host=0.0.0.0": a name has no = and no blank`}},
		{"a flag in the name", good + "flags: {'speed 1 --host': x}\n", []string{"a name has no = and no blank"}},
		{"in a word of several", "name: x\nmodel: m\nengine: vllm\ncommand: [sh, -c, exec vllm serve --host 0.0.0.0]\n", []string{"command: 0.0.0.0 is open"}},
		{"in a document", good + `flags: {kv-transfer-config: '{"kv_ip":"0.0.0.0"}'}` + "\n", []string{"flag kv-transfer-config: 0.0.0.0 is open"}},
		{"dashes", good + "flags: {--speed: 1}\n", []string{"without dashes"}},
		{"not YAML", "name: [", []string{"line 1"}},
		{"empty", "", []string{"name is missing"}},
		{"too long", strings.Repeat("#", maxBytes+1), []string{"at most"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read([]byte(c.text), []string{"hermes", "think"})
			if err == nil {
				t.Fatal("it was read")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
	for _, text := range []string{
		`flags: {kv-events-config: '{"endpoint":"tcp://127.0.0.1:5557","replay_endpoint":"tcp://*:0"}'}`, // which vLLM binds to VLLM_HOST_IP
		`flags: {kv-events-config: '{"endpoint":"tcp://*:0"}', allowed-origins: '["*"]', x: "0.0.0.01", y: "a::b", version: "1.0.0.0.0"}`,
	} {
		if _, err := Read([]byte(good+text+"\n"), nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	r, err := Read([]byte(good+"template: {clear_thinking: false, reasoning_effort: high, budget: 7, weight: 0.5}\n"), nil)
	if err != nil {
		t.Fatalf("a good one: %v", err)
	}
	if got := fmt.Sprintf("%v %T", r.Template, r.Template["budget"]); got != "map[budget:7 clear_thinking:false reasoning_effort:high weight:0.5] uint64" {
		t.Errorf("switches are %s", got)
	}
}
