package main

import (
	"context"
	"encoding/json"
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

func main() {
	var o options
	flag.StringVar(&o.dyn, "dyn", "./dyn", "the program that is tried")
	flag.StringVar(&o.dir, "dir", "", "where the clients are installed")
	flag.StringVar(&o.results, "results", "", "file that gets one line of JSON for each cell, at its end")
	flag.StringVar(&o.keep, "keep", "", "folder that keeps what the cells wrote")
	table := flag.String("table", "", "`command` line that is printed above a table of the results on standard input")
	commit := flag.String("commit", "", "what the table says was tried")
	date := flag.String("date", "", "when")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := error(nil)
	if *table != "" {
		err = tabulate(os.Stdout, os.Stdin, *table, *commit, *date)
	} else {
		err = all(ctx, o, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

type options struct{ dyn, dir, results, keep string }

// cell is one client in one case.
type cell struct {
	c client
	s scene
}

// chosen reads what is to be run: CLIENT or CLIENT:CASE,CASE; nothing is all.
func chosen(args []string) ([]cell, error) {
	if len(args) == 0 {
		for _, c := range clients {
			args = append(args, c.name)
		}
	}
	var cells []cell
	for _, arg := range args {
		name, cases, some := strings.Cut(arg, ":")
		c, ok := named(name)
		if !ok {
			return nil, fmt.Errorf("no client %q", name)
		}
		left := strings.Split(cases, ",")
		for _, s := range append(slices.Clone(scenes), familyScenes()...) {
			i := slices.Index(left, s.name)
			if i < 0 && s.family {
				i = slices.Index(left, "families")
			}
			if (some && i < 0) || (s.only != "" && s.only != name) || s.family && (!some || c.read.Name == "") {
				continue
			}
			if some && left[i] != "families" {
				left = slices.Delete(left, i, i+1)
			}
			cells = append(cells, cell{c, s})
		}
		left = slices.DeleteFunc(left, func(s string) bool { return s == "families" })
		if some && len(left) > 0 {
			return nil, fmt.Errorf("no case %s", strings.Join(left, ", "))
		}
	}
	return cells, nil
}

func all(ctx context.Context, o options, args []string) error {
	cells, err := chosen(args)
	if err != nil {
		return err
	}
	if o.dyn, err = filepath.Abs(o.dyn); err != nil {
		return err
	}
	root := o.keep
	if root == "" {
		if root, err = os.MkdirTemp("", "clients-"); err != nil {
			return err
		}
		defer os.RemoveAll(root)
	} else if root, err = filepath.Abs(root); err != nil {
		return err
	}
	failed := 0
	for _, c := range cells {
		r := c.report(ctx, o, filepath.Join(root, c.c.name+"-"+c.s.name))
		fmt.Println(r)
		if r.State == failure {
			failed++
		}
		if err := r.append(o.results); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cells failed", failed, len(cells))
	}
	return nil
}

// report runs one cell.
func (x cell) report(ctx context.Context, o options, root string) (r report) {
	r = report{Subject: x.c.title, Case: x.s.title, State: success, Family: x.s.family}
	began := time.Now()
	defer func() { r.Seconds = time.Since(began).Seconds() }()
	version, err := installed(o.dir, x.c.pkg)
	switch {
	case err != nil:
		r.State, r.Note = skipped, "not installed"
		return r
	case x.c.no[x.s.name] != "":
		r.Version, r.State, r.Note = version, none, x.c.no[x.s.name]
		return r
	}
	r.Version = version
	switch r.Note, err = x.run(ctx, o, root); {
	case errors.Is(err, errNoFixtures):
		r.State, r.Note = skipped, err.Error()
	case err != nil:
		r.State, r.Note = failure, err.Error()
	}
	return r
}

func (x cell) run(ctx context.Context, o options, root string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*stepLimit)
	defer cancel()
	size := window
	if x.s.window != nil {
		size = x.s.window(x.c)
	}
	start := (*lab).up
	if x.s.start != nil {
		start = x.s.start
	}
	l, err := newLab(ctx, o.dyn, o.dir, root, size, x.s.rules(x.c), start)
	if err != nil {
		return "", err
	}
	defer l.close()
	if x.c.env != nil {
		l.extra = x.c.env(l)
	}
	if x.c.setup != nil {
		if err := x.c.setup(l); err != nil {
			return "", fmt.Errorf("set up: %w", err)
		}
	}
	note := ""
	if err = x.s.play(ctx, x.c, l); err == nil {
		note, err = judge(ctx, x.c, x.s, l)
	} else if _, more := judge(ctx, x.c, x.s, l); more != nil {
		err = errors.Join(err, more)
	}
	if err != nil || o.keep != "" {
		text := dump(ctx, l)
		if err != nil {
			fmt.Print(text)
		}
		if o.keep != "" {
			err = errors.Join(err, l.save(text))
		}
	}
	return note, err
}

// installed returns the version of a package.
func installed(dir, pkg string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", pkg, "package.json"))
	if err != nil {
		return "", err
	}
	var p struct{ Version string }
	return p.Version, json.Unmarshal(data, &p)
}

// save keeps the exchanges of a cell as files.
func (l *lab) save(text string) error {
	errs := []error{os.WriteFile(filepath.Join(l.root, "summary.txt"), []byte(text), 0o600)}
	for i, e := range l.tap.exchanges() {
		name := filepath.Join(l.root, fmt.Sprintf("%02d", i+1))
		errs = append(errs, os.WriteFile(name+"-request.json", e.Body, 0o600), os.WriteFile(name+"-answer.txt", e.Answer, 0o600))
		head, err := json.MarshalIndent(e.Head, "", " ")
		errs = append(errs, err, os.WriteFile(name+"-head.json", head, 0o600))
	}
	return errors.Join(errs...)
}
