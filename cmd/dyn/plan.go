package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/server"
	"github.com/agentinfer/dyn/turn"
)

// plan is what a daemon shall do, worked out before anything is started. It
// travels to the detached daemon as JSON on its standard input, so that keys
// are on no command line.
type plan struct {
	Recipe   string            `json:"recipe"` // "" serves attached engines only
	Model    string            `json:"model"`
	Workers  int               `json:"workers"`
	Flags    map[string]string `json:"flags"` // for each worker
	ModelDir string            `json:"model_dir"`
	Context  int               `json:"context_tokens"`
	Host     string            `json:"host"`
	Port     int               `json:"port"`
	Key      string            `json:"api_key,omitempty"`
	Policy   string            `json:"policy"`                       // the router's mode
	Router   map[string]string `json:"router"`                       // what may be changed while it runs, by key; "" is a strategy's own
	Parser   string            `json:"parser,omitempty"`             // how answers are read, above what the recipe says
	Trust    bool              `json:"trust_dyn_template,omitempty"` // prompts are made here, whatever the engine makes
	Attach   []turn.Attach     `json:"attach"`
	Gather   string            `json:"gather"` // a time, or "off"

	LeaseBudget string            `json:"lease_budget"` // share of a worker's KV cache
	MaxAge      string            `json:"ledger_max_age"`
	MaxBytes    int64             `json:"ledger_max_bytes"`
	Prompts     string            `json:"ledger_prompts,omitempty"` // "text": the books hold the words where prompts part
	RawTurns    string            `json:"ledger_raw_turns"`         // a time, or "off"
	Settings    map[string]string `json:"settings"`                 // by flag: what holds, but for the key
	named       bool              // the recipe was asked for by its name
	asked       []string          // flags that were given

	Program         []string `json:"program,omitempty"` // of a real engine
	ProgramFrom     string   `json:"program_from,omitempty"`
	ProgramVersion  string   `json:"program_version,omitempty"`
	TrustRemoteCode bool     `json:"trust_remote_code,omitempty"` // the engine may run code of the model folder
	missing         error    // why there is no program
	fetch           *recipes.Fetch
}

// op names the plan for errors: "up sim".
func (p plan) op() string { return strings.TrimSpace("up " + p.Recipe) }

// defaultRecipe is what fits this machine.
const defaultRecipe = "sim"

// newPlan works out what `dyn up` with these flags and arguments shall do.
func newPlan(cmd *cobra.Command, args, attach []string) (plan, *config.Set, error) {
	set, err := settings(cmd)
	if err != nil {
		return plan{}, nil, err
	}
	p := plan{Recipe: set.Text("up.recipe")}
	if len(args) == 1 {
		p.Recipe, p.named = args[0], true
	}
	for _, text := range attach {
		at, err := parseAttach(text)
		if err != nil {
			return p, set, fail(usage, "up", err, "", "dyn up --attach http://127.0.0.1:8000 --model-dir <dir>")
		}
		p.Attach = append(p.Attach, at)
	}
	if p.Recipe == "" && len(attach) == 0 {
		p.Recipe = cmp.Or(leftHere().recipe, defaultRecipe)
	}
	var r *recipes.Recipe
	if p.Recipe != "" {
		if r, err = p.fromRecipe(set); err != nil {
			return p, set, err
		}
	}
	set.Fill(p.Recipe, nil)
	p.Settings = map[string]string{}
	for _, s := range config.Settings {
		if s.Flag == "" || s.Key == "server.api_key" {
			continue
		}
		p.Settings[s.Flag] = set.Text(s.Key)
		if cmd.Flags().Changed(s.Flag) || s.Was != "" && cmd.Flags().Changed(s.WasFlag()) {
			p.asked = append(p.asked, s.Flag)
		}
	}
	if p.Recipe == "" {
		p.Settings["workers"] = "0"
	}
	p.ModelDir = set.Text("worker.model_dir")
	p.Workers, p.Policy = set.Int("up.workers"), set.Text("router.mode")
	p.Router = map[string]string{}
	for _, key := range server.KnobKeys() {
		p.Router[key] = set.Text(key)
	}
	p.Parser = set.Text("server.parser")
	p.Host, p.Port, p.Key = set.Text("server.host"), set.Int("server.port"), set.Text("server.api_key")
	p.LeaseBudget = set.Text("router.lease_budget")
	p.Gather, p.Trust = set.Text("server.gather"), set.Text("router.trust_dyn_template") == "true"
	p.MaxAge = set.Text("ledger.max_age")
	p.MaxBytes, _ = strconv.ParseInt(set.Text("ledger.max_size"), 10, 64)
	p.RawTurns, p.Prompts = set.Text("ledger.raw_turns"), set.Text("ledger.prompts")
	for i := range p.Attach {
		at := &p.Attach[i]
		if at.ModelDir = cmp.Or(at.ModelDir, p.ModelDir); at.ModelDir == "" || at.Kind != "" {
			continue
		}
		if at.ModelDir, err = filepath.Abs(at.ModelDir); err != nil {
			return p, set, fmt.Errorf("find working folder: %w", err)
		}
	}
	if err := p.check(); err != nil || r == nil {
		return p, set, err
	}
	if err := p.wants(r, set); err != nil {
		return p, set, err
	}
	if _, err := p.command(r); err != nil {
		try := "dyn help recipes"
		if recipes.IsFile(p.Recipe) {
			try = "${EDITOR:-vi} " + p.Recipe
		}
		return p, set, fail(usage, p.op(), err, "", try)
	}
	return p, set, nil
}

// fromRecipe fills in what the recipe says and nothing above it.
func (p *plan) fromRecipe(set *config.Set) (*recipes.Recipe, error) {
	r, err := p.findRecipe()
	if err != nil {
		return nil, err
	}
	flags := maps.Clone(r.Flags)
	maps.DeleteFunc(flags, func(_, v string) bool { return strings.Contains(v, "{") })
	set.Fill(p.Recipe, flags)
	p.Model, p.Context, p.Flags = r.Model, r.Context, set.Worker()
	if r.Simulated() {
		p.Flags = set.Simulated()
	} else if err := p.refuseSimulated(set); err != nil {
		return nil, err
	}
	delete(p.Flags, "model-dir") // the launch has it from the plan
	if n, err := strconv.Atoi(p.Flags["max-model-len"]); err == nil {
		p.Context = n
	}
	return r, nil
}

// findRecipe reads the plan's recipe. A file's name is made absolute, since the
// daemon works in another folder.
func (p *plan) findRecipe() (*recipes.Recipe, error) {
	if recipes.IsFile(p.Recipe) {
		var err error
		if p.Recipe, err = filepath.Abs(p.Recipe); err != nil {
			return nil, fmt.Errorf("find working folder: %w", err)
		}
	}
	r, err := recipes.Find(p.Recipe)
	if errors.Is(err, fs.ErrNotExist) {
		f := understand("up", err)
		f.Op, f.Err = "up", fmt.Errorf("unknown recipe %q", p.Recipe)
		var known []string
		for _, r := range recipes.List() {
			known = append(known, r.Name)
		}
		if near := config.Nearest(p.Recipe, known); near != "" {
			f.Try = "dyn up " + near
		}
		return nil, f
	}
	if err != nil {
		return nil, fail(usage, "up", err, "", "${EDITOR:-vi} "+p.Recipe)
	}
	if known := adapterNames(); !slices.Contains(known, r.Engine) {
		return nil, fail(usage, "up", fmt.Errorf("%s: no adapter for engine %q", p.Recipe, r.Engine), "known: "+strings.Join(known, ", "), "dyn help recipes")
	}
	set, err := (&app{}).parserSet()
	if err != nil {
		return nil, err
	}
	for kind, name := range map[parsers.Kind]string{parsers.Tools: r.Parsers.Tools, parsers.Thinking: r.Parsers.Reasoning} {
		if _, err := set.Lookup(name, kind); name != "" && err != nil {
			return nil, fail(usage, "up", fmt.Errorf("%s: unknown parser %q of %ss", p.Recipe, name, kind), near(set, name), "dyn parsers ls     or: ${EDITOR:-vi} "+p.Recipe)
		}
	}
	return r, nil
}

// refuseSimulated refuses flags that only a simulated engine heeds. The same
// settings in files and variables are for the recipes that heed them.
func (p *plan) refuseSimulated(set *config.Set) error {
	for _, s := range config.Settings {
		if s.Sim && strings.HasPrefix(set.Values[s.Key].From, "flag ") {
			return fail(usage, p.op(), fmt.Errorf("--%s is for simulated engines", s.Flag), p.Recipe+" starts a real one", "dyn "+p.op())
		}
	}
	return nil
}

// check looks at what one setting alone does not tell.
func (p plan) check() error {
	if p.Parser != "" {
		set, err := (&app{}).parserSet()
		if err != nil {
			return err
		}
		if _, err := newFormats(set, p.Parser, nil, false, nil); err != nil {
			return fail(usage, p.op(), fmt.Errorf("unknown parser %q", p.Parser), near(set, p.Parser), "dyn parsers ls")
		}
	}
	addr, err := netip.ParseAddr(p.Host)
	local := p.Host == "localhost" || (err == nil && addr.IsLoopback())
	switch {
	case !local && p.Key == "" && !hasKeys():
		return fail(usage, p.op(), fmt.Errorf("%s is not loopback and there is no key", p.Host), "everybody who reaches the port could use the models",
			"dyn key add <name>     or: dyn "+p.op()+" --host "+p.Host+" --api-key \"$(openssl rand -hex 16)\"")
	case p.Port > 65535:
		return fail(usage, p.op(), fmt.Errorf("port %d is above 65535", p.Port), "", "dyn "+p.op()+" --port 8080")
	case p.Recipe != "" && p.Workers == 0:
		return fail(usage, p.op(), errors.New("0 workers serve nobody"), "", "dyn "+p.op()+" --workers 1")
	case p.Workers > 64:
		return fail(usage, p.op(), fmt.Errorf("%d workers are more than 64", p.Workers), "", "dyn "+p.op()+" --workers 8")
	}
	for name, path := range map[string]string{"model-dir": p.ModelDir, "brain": p.Flags["brain"]} {
		if _, err := os.Stat(path); path != "" && err != nil {
			return fail(usage, p.op(), fmt.Errorf("--%s %s: no such file or folder", name, path), "", "ls "+path)
		}
	}
	return nil
}

// settings loads the configuration, with the flags that a command was given
// on top.
func settings(cmd *cobra.Command) (*config.Set, error) {
	f, err := (&app{}).folders()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find working folder: %w", err)
	}
	given := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() })
	set, err := config.Load(config.Source{Flags: given, Env: os.Environ(), Dir: dir, UserFile: f.UserFile()})
	var file *config.FileError
	if err != nil && !errors.As(err, &file) {
		try := ""
		if bad := new(config.ValueError); errors.As(err, &bad) {
			try = bad.Try(opOf(cmd))
		}
		return nil, fail(usage, opOf(cmd), err, "", cmp.Or(try, "dyn help environment"))
	}
	return set, err
}

// parseAttach reads URL[,events=tcp://…][,replay=tcp://…][,key=…][,kind=…].
func parseAttach(text string) (turn.Attach, error) {
	parts := strings.Split(text, ",")
	at := turn.Attach{URL: strings.TrimRight(parts[0], "/")}
	u, err := url.Parse(at.URL)
	if err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" {
		return at, fmt.Errorf("--attach %q is no http:// address", parts[0])
	}
	into := map[string]*string{"events": &at.Events, "replay": &at.Replay, "key": &at.Key, "model-dir": &at.ModelDir, "kind": &at.Kind}
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		to := into[name]
		if !ok || to == nil {
			return at, fmt.Errorf("--attach has no %q; it has events=, replay=, key=, model-dir=, kind=", part)
		}
		*to = value
	}
	if kinds := []string{"", "embeddings", "images", "videos"}; !slices.Contains(kinds, at.Kind) {
		return at, fmt.Errorf("--attach has no kind=%s; it has %s", at.Kind, strings.Join(kinds[1:], ", "))
	}
	return at, nil
}

// leaseBudget is the share of a worker's KV cache that leases may take; below 0
// none.
func (p plan) leaseBudget() float64 {
	x, err := strconv.ParseFloat(p.LeaseBudget, 64)
	switch {
	case err != nil:
		return 0 // the default
	case x <= 0:
		return -1
	}
	return min(x, 1)
}

// gather is how long tokens gather under load; below 0 not at all.
func (p plan) gather() time.Duration {
	d, err := time.ParseDuration(p.Gather)
	if err != nil || d == 0 { // "off", or what would be the default
		return -1
	}
	return d
}

// knobs are the router's settings at the start. The values were checked when
// they were read.
func (p plan) knobs() server.Knobs {
	var k server.Knobs
	for key, value := range p.Router {
		if value != "" {
			k.Set(key, value)
		}
	}
	return k
}

// ledger is how the daemon keeps its books. The values were checked when they
// were read.
func (p plan) ledger() ledger.Options {
	o := ledger.Options{MaxBytes: p.MaxBytes, RawAge: -1}
	o.MaxAge, _ = time.ParseDuration(p.MaxAge)
	if p.RawTurns != "off" {
		o.RawAge, _ = time.ParseDuration(p.RawTurns)
	}
	if o.RawAge == 0 { // which would be the default
		o.RawAge = -1
	}
	return o
}
