package llamacpp

import (
	"errors"
	"runtime"
	"strconv"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// Adapter launches and reaches llama-server. The zero value is ready.
type Adapter struct{}

// Name is "llamacpp".
func (Adapter) Name() string { return "llamacpp" }

// usualSlots is how many turns run at once: an agent and one that it started.
// Each has memory of its own for the whole context.
const usualSlots = 2

// usual are the flags of every launch; recipes and users go over them.
//
// Settings of sampling that a turn leaves unsaid have the meaning of the APIs
// that we serve, which is not llama.cpp's (0.8, 40, 0.95, 0.05); a recipe may
// set what suits its model.
//
// Batches are small because a hang-up during a prompt is noticed between two of
// them. With a slot taken only for prompts that it has nine tenths of, and what
// it held saved, conversations with a long common beginning do not overwrite
// each other: 75 % of prompt tokens were reused against 46 % without.
func usual(workers int) map[string]string {
	return map[string]string{
		"parallel":               strconv.Itoa(usualSlots),
		"batch-size":             "512",
		"ubatch-size":            "512",
		"slot-prompt-similarity": "0.9",
		"cache-ram":              unsized,
		"threads":                strconv.Itoa(threads(runtime.NumCPU(), workers)),
		"temp":                   "1",
		"top-k":                  "0",
		"top-p":                  "1",
		"min-p":                  "0",
		"metrics":                "true",
		"slots":                  "true",
		"jinja":                  "true",
		"no-webui":               "true",
		"offline":                "true",
	}
}

// unsized stands for a room for saved states that follows from the model.
const unsized = "?"

// termWait is how long a server may take to end: it does not while a client
// holds a request, and it has nothing to tidy up.
const termWait = 2 * time.Second

// Launch is the command line: the recipe's command, then its flags, with the
// address, the public name of the model, and its file. A recipe's context is
// of one turn; the server divides what it is given among its slots.
func (Adapter) Launch(s engine.Spec, at engine.Place) (engine.Launch, error) {
	base := usual(s.Workers)
	base["model"] = "{model_dir}"
	if at.Dir != "" {
		base["slot-save-path"] = at.Dir + "/"
	}
	flags := s.Settings(at, base)
	file, err := modelFile(flags["model"])
	if err != nil {
		return engine.Launch{}, err
	}
	flags["model"] = file
	if flags["cache-ram"] == unsized {
		flags["cache-ram"] = strconv.Itoa(savedRoom(machineMemory(), weightsOf(file), s.Workers))
	}
	flags["host"] = "127.0.0.1"
	flags["port"] = strconv.Itoa(at.Port)
	flags["alias"] = s.Recipe.Model
	delete(flags, "api-key") // a command line can be read by everybody on the machine
	translate(flags, s.Recipe.Context)
	return engine.Launch{
		Args:     append(s.Command(at), engine.Args(flags)...),
		Env:      s.Variables("LLAMA_API_KEY=" + at.Key),
		TermWait: termWait,
		Known:    turn.Capabilities{MaxBatched: engine.Number(flags["batch-size"])},
	}, nil
}

// translate puts what dyn's own settings ask for, which have vLLM's names, in
// the server's flags, and drops what it has no flag for. context is that of one
// turn where nothing else is said; 0 is the model's.
func translate(flags map[string]string, context int) {
	take := func(name string) string {
		value := flags[name]
		delete(flags, name)
		return value
	}
	take("block-size")
	take("shutdown-timeout")
	if n := take("max-num-seqs"); n != "" {
		flags["parallel"] = n
	}
	if n := take("max-num-batched-tokens"); n != "" {
		flags["batch-size"], flags["ubatch-size"] = n, n
	}
	if n := engine.Number(take("max-model-len")); n > 0 {
		context = n
		delete(flags, "ctx-size")
	}
	if flags["ctx-size"] == "" && context > 0 {
		slots := 1
		if flags["kv-unified"] == "" {
			slots = max(engine.Number(flags["parallel"]), 1)
		}
		flags["ctx-size"] = strconv.Itoa(context * slots)
	}
}

// errNoModel says what a recipe lacks.
var errNoModel = errors.New("no model: name a .gguf file, or a folder with one, by --model-dir or in the recipe")

// Open makes a client for the server at that address.
func (Adapter) Open(at engine.Endpoint) engine.Client { return newClient(at) }
