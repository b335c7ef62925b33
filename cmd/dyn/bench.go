package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/agentbench"
	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/route/script"
)

// benchFlags are the flags of bench agent.
type benchFlags struct {
	sessions, prefix, pause, strategy, model, export string
	turns, step, output, rounds                      int
	seed                                             uint64
}

func benchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what a routing strategy changes for agents",
		Example: examples("dyn bench agent", "the whole experiment", "dyn bench agent --sessions 20", "one level",
			"dyn bench agent --help", "what can be set"),
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(benchAgentCmd(a))
	return cmd
}

func benchAgentCmd(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Let agents work against the running workers, under one strategy and the other",
		Long: "Lets agents work against the running daemon: sessions that share a long prefix take\n" +
			"turns with pauses, as an agent that waits for its tools. Each round runs under every\n" +
			"strategy, in turn, with the same sessions. Prints time to the first token, hit,\n" +
			"tokens computed again, and the difference with an interval of 95 % (a bootstrap over\n" +
			"sessions); where that crosses zero, or a round has it otherwise, there is no verdict.\n" +
			"Nothing is cleared: the prefixes of any two rounds differ. Other clients' turns disturb\n" +
			"it and are counted. The same strategy twice shows what chance alone does.",
		Example: examples("dyn bench agent", "1, 20 and 40 sessions, which takes a while", "dyn bench agent --sessions 20 --rounds 3 --pause 2-10s", "one level, shorter pauses",
			"dyn bench agent --strategy kv,round-robin --json", "for scripts", "dyn bench agent --sessions 40 --export trace.jsonl", "keep its load as a trace"),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.sessions, "sessions", "1,20,40", "`list` of how many agents work at once")
	flags.StringVar(&f.prefix, "prefix", "6000", "tokens that all agents share: a `size`")
	flags.IntVar(&f.turns, "turns", 6, "turns of each agent")
	flags.StringVar(&f.pause, "pause", "2-30s", "`time` between an answer and the next turn: one, or two with a dash")
	flags.StringVar(&f.strategy, "strategy", "", "`names` of the strategies, with knobs behind colons, the first is compared with each other (default "+strings.Join(benchArms(), ",")+")")
	flags.IntVar(&f.rounds, "rounds", 2, "how often each level runs under each strategy")
	flags.IntVar(&f.step, "step", 300, "new tokens of a turn, half more or less")
	flags.IntVar(&f.output, "output", 150, "tokens of an answer")
	flags.StringVar(&f.model, "model", "", "`name` of the model (default the first that is served)")
	flags.Uint64Var(&f.seed, "seed", 1, "of texts and pauses: the same gives the same load")
	flags.StringVar(&f.export, "export", "", "write the last level's load to a `file`, as a Mooncake trace")
	cmd.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions(route.Names(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("model", modelsNamed(a))
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := f.bench()
		if err != nil {
			return err
		}
		s, err := serving(cmd.Context(), a, "bench agent", f.model)
		if err != nil {
			return err
		}
		return b.run(cmd.Context(), a, s, show)
	}
	show = asJSON(cmd, benchDoc{})
	return cmd
}

// benchArms are compared where nobody says which.
func benchArms() []string { return []string{"dyn", "round-robin"} }

// bench is a measurement, checked.
type bench struct {
	load   agentbench.Load // of the first round, but for its sessions
	levels []int
	arms   []string
	rounds int
	export string
}

// sessionsMost bounds how many agents work at once: more are no measurement of
// one machine's workers.
const sessionsMost = 1024

// bench checks the flags.
func (f benchFlags) bench() (*bench, error) {
	bad := func(err error, try string) error { return fail(usage, "bench agent", err, "", "dyn bench agent "+try) }
	b := &bench{load: agentbench.Load{Turns: f.turns, Step: f.step, Output: f.output, Seed: f.seed}, rounds: f.rounds, export: f.export}
	for text := range strings.SplitSeq(f.sessions, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > sessionsMost {
			return nil, bad(fmt.Errorf("--sessions: %q is no number from 1 to %d", text, sessionsMost), "--sessions 1,20,40")
		}
		b.levels = append(b.levels, n)
	}
	prefix, err := config.ParseSize(f.prefix)
	switch {
	case err != nil || prefix < 1 || prefix > 1<<20:
		return nil, bad(fmt.Errorf("--prefix: %q is no size from 1 to 1MiB", f.prefix), "--prefix 6000")
	case f.turns < 1 || f.rounds < 1 || f.step < 1 || f.output < 1:
		return nil, bad(errors.New("--turns, --rounds, --step and --output are 1 or more"), "--turns 6 --rounds 2")
	}
	b.load.Prefix = int(prefix)
	if b.load.Pause, err = pauseOf(f.pause); err != nil {
		return nil, bad(err, "--pause 2-30s")
	}
	for name := range strings.SplitSeq(cmp.Or(f.strategy, strings.Join(benchArms(), ",")), ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, bad(errors.New("--strategy has an empty name among its rules"), "--strategy "+strings.Join(benchArms(), ","))
		}
		if _, err := route.New(name); err != nil {
			return nil, noArm(name, err)
		}
		b.arms = append(b.arms, name)
	}
	return b, nil
}

// noArm says why a strategy cannot be measured: turns name it one by one, so that
// a file, which the daemon reads, is none of them.
func noArm(name string, err error) error {
	why := ""
	if strings.HasSuffix(name, script.Suffix) {
		err, why = fmt.Errorf("%s: a turn cannot name a file", name), "it is a setting of the whole router: dyn config set router.mode "+quote(name)
	}
	return fail(usage, "bench agent", err, why, "dyn bench agent --strategy "+cmp.Or(config.NoRule(err).Good(), route.Names()[0]))
}

// pauseOf reads 2-30s, 500ms-2s or 5s.
func pauseOf(text string) (p [2]time.Duration, err error) {
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	if p[1], err = time.ParseDuration(high); err == nil {
		if p[0], err = time.ParseDuration(low); err != nil { // 2-30s: the unit stands once
			p[0], err = time.ParseDuration(low + strings.TrimLeft(high, "0123456789."))
		}
	}
	if err != nil || p[0] < 0 || p[1] < p[0] {
		return p, fmt.Errorf("--pause: %q is no time such as 5s or 2-30s", text)
	}
	return p, nil
}

// labels are the arms as they are shown: where a strategy is there twice, to see
// what chance alone does, the second is "dyn (2)".
func (b *bench) labels() (all []string) {
	times := map[string]int{}
	for _, name := range b.arms {
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, times[name])
		}
		all = append(all, name)
	}
	return all
}

// lasts is about how long it takes, the turns themselves apart.
func (b *bench) lasts() time.Duration {
	return b.load.Lasts() * time.Duration(len(b.levels)*len(b.arms)*b.rounds)
}
