package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are what the command line says.
type options struct {
	dyn, work, fixtures, doc, commit string
	routing                          string
	only, scenes                     []string
	limit                            time.Duration
}

func main() {
	var o options
	var only, scenes string
	flag.StringVar(&o.dyn, "dyn", "./dyn", "the `program` that is tried")
	flag.StringVar(&o.work, "work", "", "`folder` for engines and models, kept from run to run")
	flag.StringVar(&o.fixtures, "fixtures", "../shared/fixtures", "`folder` of the fixtures")
	flag.StringVar(&o.doc, "doc", "", "`page` that gets the table; none is printed only")
	flag.StringVar(&o.routing, "routing", "", "`page` that gets the part about routing; none is rows only")
	flag.StringVar(&o.commit, "commit", "", "what the table says was tried")
	flag.StringVar(&only, "only", "", "first, llamacpp, vllm; with commas between (default all)")
	flag.StringVar(&scenes, "scenes", "", "names of scenes (default all)")
	flag.DurationVar(&o.limit, "limit", time.Hour, "for all of it; not a bar, but so that what hangs has an end")
	flag.Parse()
	o.only, o.scenes = words(only), words(scenes)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		stop()
		os.Exit(1)
	}
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// wants reports whether a list names something, or is empty.
func wants(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

func (o options) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	for _, path := range []*string{&o.dyn, &o.work, &o.fixtures} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	if err := os.MkdirAll(o.work, 0o700); err != nil {
		return err
	}
	began := time.Now()
	s := &sheet{}
	if wants(o.only, "first") && wants(o.scenes, "first") {
		s.try("", "first", func() error { return first(ctx, o, s) })
	}
	for _, k := range kinds {
		if wants(o.only, k.name) {
			o.kind(ctx, k, s)
		}
	}
	s.took = time.Since(began)
	if o.doc != "" {
		if err := s.write(o.doc, o.commit); err != nil {
			return err
		}
		fmt.Println(o.doc, "is written")
	}
	if n := s.count(bad); n > 0 {
		return fmt.Errorf("%d of %d rows failed", n, len(s.rows))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("it has not come to its end: %w", ctx.Err())
	}
	if len(s.rows) == 0 {
		return errors.New("nothing was looked at")
	}
	fmt.Printf("ok: %d rows in %s, %d LATE, %d NOT RUN\n", len(s.rows), s.took.Round(time.Second), s.count(late), s.count(skipped))
	return nil
}

// sceneLimit ends a scene that hangs. Within it a machine that is busy with
// other things starts vLLM twice.
const sceneLimit = 20 * time.Minute

// kind runs all scenes of an engine in one lab.
func (o options) kind(ctx context.Context, k *kind, s *sheet) {
	l := newLab(o, k)
	err := k.install(ctx, l, s)
	if errors.Is(err, errAbsent) {
		s.skip(k.name, "all of it", "%v", err)
		return
	}
	if !s.try(k.name, "install", func() error { return err }) {
		return
	}
	defer l.down()
	if !s.try(k.name, "start", func() error { return l.begin(ctx, s) }) {
		return
	}
	for _, scene := range scenes {
		if !wants(o.scenes, scene.name) || !wants(scene.kinds, k.name) {
			continue
		}
		if ctx.Err() != nil {
			s.skip(k.name, scene.title, "the time for all of it is over")
			continue
		}
		s.try(k.name, scene.title, func() error {
			ctx, cancel := context.WithTimeout(ctx, sceneLimit)
			defer cancel()
			if err := l.settle(ctx); err != nil {
				return err
			}
			return scene.play(ctx, l, s)
		})
	}
}

// scene is one thing that is done in a lab.
type scene struct {
	name, title string
	kinds       []string // nil is all
	play        func(ctx context.Context, l *lab, s *sheet) error
}

// scenes in the order in which they run: those that end engines come last.
var scenes = []scene{
	{"hits", "hits", nil, hits},
	{"forms", "structured output", nil, forms},
	{"call", "tool call", []string{"vllm"}, toolCall},
	{"long", "too long", nil, tooLong},
	{"cancel", "cancel", nil, cancels},
	{"order", "priority", []string{"vllm"}, order},
	{"daemon", "daemon killed", nil, daemonKilled},
	{"prompts", "prompts compared", nil, compared},
	{"bench", "dyn bench agent", []string{"vllm"}, benchScene},
	{"conform", "conformance", nil, conformance},
	{"salt", "salt", nil, salts},
	{"adopt", "daemon killed after several salts", nil, adoptedSalts},
	{"drain", "drain and restart", nil, drain},
	{"kill", "engine killed", nil, engineKilled},
}
