package parsers

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// engineNames are the names of formats in other programs, as their
// documentation lists them. auto and response_template name no format.
var engineNames = []struct {
	engine string
	kind   Kind
	names  string
}{
	{"vLLM", Tools, `apertus cohere_command3 cohere_command4 deepseek_v3 deepseek_v31 deepseek_v32 deepseek_v4 deepseek_v41 dots ernie45 functiongemma gemma4
		gigachat3 glm45 glm47 granite granite-20b-fc granite4 hermes hunyuan_a13b hy_v3 inkling internlm jamba kimi_k2 kimi_k3 lfm2 ling3 llama3_json llama4_json
		llama4_pythonic longcat mimo minicpm5 minimax_m2 minimax_m3 mistral muse_glimmer nemotron_json olmo3 openai phi4_mini_json poolside_v1 pythonic
		qwen3_coder qwen3_xml seed_oss step3 step3p5 xlam`},
	{"vLLM", Thinking, `cohere_command3 cohere_command4 deepseek_r1 deepseek_v3 deepseek_v4 deepseek_v41 ernie45 gemma4 glm45 glm47 granite granite_thinking hunyuan_a13b
		hy_v3 inkling kimi_k2 kimi_k3 ling3 minimax_m2 minimax_m2_append_think minimax_m3 mistral muse_glimmer nano_v3 nemotron_v3 olmo3 openai_gptoss poolside_v1
		qwen3 seed_oss step3 step3p5`},
	{"SGLang", Tools, `apertus2509 cohere_command4 deepseekv3 deepseekv31 deepseekv32 deepseekv4 deepseekv41 dots gemma4 gigachat3 glm glm45 glm47 gpt-oss hunyuan inkling
		interns1 kimi_k2 kimi_k3 lfm2 ling3 llama3 mimo minicpm5 minimax-m2 minimax-m3 mistral muse poolside_v1 pythonic qwen qwen25 qwen3_coder step3 step3p5`},
	{"SGLang", Thinking, `cohere_command4 deepseek-r1 deepseek-v3 deepseek-v4 gemma4 glm45 gpt-oss hunyuan inkling kimi kimi_k2 kimi_k3 minimax minimax-append-think minimax-m3
		mistral muse nemotron_3 poolside_v1 qwen3 qwen3-thinking step3 step3p5`},
	{"TensorRT-LLM", Tools, `deepseek_v32 deepseekv3 deepseekv3.1 deepseekv31 deepseekv4 deepseekv41 gemma4 glm4 glm47 inkling kimi_k2 kimi_k3 minimax_m2 minimax_m3 poolside_v1 qwen3 qwen3_coder`},
	{"TensorRT-LLM", Thinking, `deepseek-r1 deepseek_v4 gemma4 kimi_k2 kimi_k25 kimi_k3 laguna minimax_m2 minimax_m2_append_think minimax_m3 nano-v3 nemotron-v3 qwen3 qwen3_5`},
	{"Dynamo", Tools, `deepseek_v3 deepseek_v3_1 deepseek_v3_2 deepseek_v4 gemma4 glm47 harmony hermes jamba kimi_k2 kimi_k3 llama3_json minimax_m2 mistral nemotron_deci nemotron_nano
		phi4 pythonic qwen25 qwen3_coder`},
	{"Dynamo", Thinking, `basic deepseek_r1 deepseek_v3 deepseek_v4 gemma4 glm45 gpt_oss granite kimi kimi_k25 kimi_k3 minimax_append_think mistral nemotron3 nemotron_deci nemotron_nano nemotron_v3
		qwen3 step3`},
	{"smg", Tools, `cohere deepseek deepseek31 deepseek32 deepseek_v4 deepseek_v41 glm45_moe glm47_moe inkling json kimi_k3 kimik2 llama minimax_m2 mistral pythonic qwen qwen_xml step3`},
}

// TestEngineNames: the names of other programs are ours too.
func TestEngineNames(t *testing.T) {
	for _, c := range engineNames {
		for _, name := range strings.Fields(c.names) {
			if _, err := Lookup(name, c.kind); err != nil {
				t.Errorf("%s: %v", c.engine, err)
			}
		}
	}
}

// TestSpecs: every spec is good, says what models it is for, and survives
// being written and read.
func TestSpecs(t *testing.T) {
	for _, s := range Specs() {
		data, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ReadSpec(data)
		if err != nil {
			t.Fatalf("%s, written and read: %v\n%s", s.Name, err, data)
		}
		if !reflect.DeepEqual(s, back) {
			t.Errorf("%s changed:\n%+v\n%+v", s.Name, s, back)
		}
		if len(s.Models) == 0 {
			t.Errorf("%s names no models", s.Name)
		}
		if _, err := Using(s, Options{}); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"hermes", "think", "qwen3", "deepseek_r1"} {
		if !slices.Contains(Known(), name) {
			t.Errorf("%s is not known", name)
		}
	}
}

// TestSpecErrors: what is wrong with a spec is told with its place.
func TestSpecErrors(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "name: x\ngrammer: json_call\n", "[2:1] unknown field \"grammer\""},
		{"no name", "grammar: json_call\ncall: {open: <c>}\n", "line 1: name: it is missing"},
		{"bad grammar", "name: x\ngrammar: xml\n", "line 2: grammar: \"xml\" is none; there are json_call"},
		{"nothing", "name: x\n", "without one, reasoning has to be given"},
		{"no opening", "name: x\n\ngrammar: json_call\n", "call.open: nothing says where a call begins"},
		{"no end of reasoning", "name: x\nreasoning:\n  open: <t>\n", "reasoning.close: nothing says where reasoning ends"},
		{"empty marker", "name: x\ngrammar: json_call\ncall:\n  open: [<c>, \"\"]\n", "line 4: call.open: a marker is empty"},
		{"wrong type", "name: x\ngrammar: json_call\ncall:\n  open: {a: b}\n", "line [4:"},
		{"no YAML", "name: [x\n", "line ["},
	} {
		_, err := ReadSpec([]byte(c.yaml))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestLoad: specs of a folder are added to ours, and win.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := Load(filepath.Join(dir, "none")); err != nil || len(s.Specs()) != len(Specs()) {
		t.Errorf("without a folder: %v", err)
	}
	write("acme.yaml", "name: acme\ngrammar: json_call\ncall: {open: <acme>, close: </acme>}\naliases: {tools: [hermes]}\n")
	set, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"acme", "hermes"} {
		a := read(t, Options{Tools: name, Set: set}, false, `<acme>{"name": "f", "arguments": {}}</acme>`)
		if len(a.calls) != 1 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if _, err := Lookup("acme", Tools); err == nil {
		t.Error("a folder changed what the program knows")
	}
	for file, want := range map[string]string{
		"other.yaml": `other.yaml: line 1: name: it is "acme"; it has to be that of the file`,
		"twin.yaml":  `twin.yaml: the name "acme" is in acme.yaml already`,
		"bad.yaml":   `bad.yaml: line 2: grammar: "x" is none`,
	} {
		text := map[string]string{
			"other.yaml": "name: acme\ngrammar: json_call\ncall: {open: <a>}\n",
			"twin.yaml":  "name: twin\ngrammar: json_call\ncall: {open: <a>}\naliases: {tools: [acme]}\n",
			"bad.yaml":   "name: bad\ngrammar: x\n",
		}[file]
		write(file, text)
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
}
