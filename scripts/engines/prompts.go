package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// compared checks what came of the look at the engines' own prompts when they
// started: they are dyn's, so that turns go there as tokens. Then an engine of
// the same model meets a dyn that has another template.
func compared(ctx context.Context, l *lab, s *sheet) error {
	seen, right, err := l.paths(ctx, "tokens", func(c found) bool { return c.State == "ok" && alike(c.Text) })
	if err != nil {
		return err
	}
	r := row{l.k.name, "the prompts of the engines are compared with dyn's when they start: `dyn doctor`, and the path in `dyn ps`", seen, good}
	switch {
	case !right && strings.Contains(seen, "no answer") && !strings.Contains(seen, "differs"):
		r.state = late
	case !right:
		r.state = bad
	}
	s.add(r)
	w, err := l.worker(ctx, "w0")
	if err != nil {
		return err
	}
	for _, trust := range []bool{false, true} {
		if err := estranged(ctx, l, s, w, trust); err != nil {
			return err
		}
	}
	return nil
}

// found is what dyn doctor says of a worker's prompts.
type found struct{ Name, State, Text, Try string }

// alike reports whether a finding is of eight conversations that are the same,
// or that dyn prints better than the engine does.
func alike(text string) bool {
	_, counts, ok := strings.Cut(text, "conversations compared: ")
	counts, _, _ = strings.Cut(counts, "\n")
	same, all := 0, 0
	for part := range strings.SplitSeq(counts, ", ") {
		var n int
		var result string
		if _, err := fmt.Sscanf(part, "%d %s", &n, &result); err != nil {
			return false
		}
		all += n
		if result == "equal" || result == "adapted" {
			same += n
		}
	}
	return ok && same == 8 && all == 8
}

// paths tells of all workers what doctor says of their prompts and how their
// turns go, and whether that is as it should be.
func (l *lab) paths(ctx context.Context, path string, so func(found) bool) (seen string, right bool, err error) {
	var doc struct{ Checks []found }
	if err := l.json(ctx, &doc, "doctor"); err != nil {
		return "", false, err
	}
	ws, err := l.workers(ctx)
	if err != nil {
		return "", false, err
	}
	right = len(ws) > 0
	var parts []string
	for _, w := range ws {
		ok := false
		for _, c := range doc.Checks {
			if name, _, _ := strings.Cut(c.Text, ": "); c.Name == "prompts" && name == w.Name {
				ok = so(c)
				text, _, _ := strings.Cut(c.Text, "\n")
				parts = append(parts, text)
			}
		}
		right = right && ok && w.Path == path
		parts = append(parts, strings.TrimSuffix("path "+w.Path+": "+w.PathWhy, ": "))
	}
	return strings.Join(parts, ", "), right, nil
}

// strange is a chat template that no model here was trained with.
const strange = `{% for m in messages %}<|im_start|>{{ m['role'] }} says: {{ m['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant says: {% endif %}`

// estranged has a second daemon attach an engine of the lab, with the model's
// own files but for the template. Turns then go by the engine's chat API,
// unless dyn's template is to be trusted.
func estranged(ctx context.Context, l *lab, s *sheet, w snapshot.Worker, trust bool) error {
	other := newLab(l.o, l.k)
	other.dir = l.dir + "-strange"
	if err := os.RemoveAll(other.dir); err != nil {
		return err
	}
	dir := filepath.Join(other.dir, "model")
	if err := l.disguise(ctx, dir); err != nil {
		return err
	}
	key, err := l.secret(w.Name)
	if err != nil {
		return err
	}
	words := []string{"up", "--port", "0", "--attach", w.URL + ",key=" + key + ",model-dir=" + dir}
	what, path, so := "… of an engine with another template than dyn's: turns go to its own chat API", "chat", func(c found) bool {
		return c.State == "warn" && strings.Contains(c.Text, "differs") && c.Try != ""
	}
	if trust {
		words = append(words, "--trust-dyn-template")
		what, path, so = "… the same with `--trust-dyn-template`", "tokens", func(c found) bool {
			return c.State == "ok" && strings.Contains(c.Text, "differ")
		}
	}
	defer other.down()
	if _, err := other.dyn(ctx, words...); err != nil {
		return err
	}
	var doc struct{ Daemon snapshot.Daemon }
	if err := other.json(ctx, &doc, "ps"); err != nil {
		return err
	}
	other.url = doc.Daemon.URL
	seen, right, err := other.paths(ctx, path, so)
	if err != nil {
		return err
	}
	t := other.talk("strange", 5).say("Say hello.")
	if _, err := t.answer(ctx, 8); err != nil {
		return err
	}
	own, err := other.turns(ctx, t.session, 1)
	if err != nil {
		return err
	}
	went := "by tokens"
	if own[0].Chat != "" {
		went = "by its chat API: " + own[0].Chat
	}
	s.check(l.k.name, what, right && (own[0].Chat == "") == trust, "%s; a turn went %s", seen, went)
	return nil
}

// disguise makes a folder of the model's files with another template.
func (l *lab) disguise(ctx context.Context, dir string) error {
	from, err := l.modelDir(ctx)
	if err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Symlink(filepath.Join(from, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "chat_template.jinja")
	_ = os.Remove(path) // the model's own, if it has one
	return os.WriteFile(path, []byte(strange), 0o600)
}

// modelDir is where the files of the lab's model lie.
func (l *lab) modelDir(ctx context.Context) (string, error) {
	if l.k.name == "vllm" {
		return filepath.Join(l.o.work, "smol"), nil
	}
	path, err := l.gguf(ctx)
	return filepath.Dir(path), err
}
