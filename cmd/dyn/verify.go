package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/engine"
	prompts "github.com/agentinfer/dyn/engine/check"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// verify compares the prompts that a worker's engine makes with ours, and
// returns why its turns should go to the engine's own chat API; "" is no
// reason. What was found lies in the worker's file for `dyn doctor`.
func (d *daemon) verify(ctx context.Context, i turn.WorkerInfo, c engine.Client) string {
	m := d.models.prompts(i)
	if m == nil {
		_ = os.Remove(d.folders.Prompts(i.Name)) // of a worker before this one
		return ""
	}
	r, before := d.compare(ctx, i, c, m)
	why, detail := r.Reason(), r.Summary()
	if before {
		detail += ", before this daemon"
	}
	switch {
	case why == "":
	case d.plan.Trust:
		detail, why = why+"; dyn's are used, as --trust-dyn-template says", ""
	default:
		detail = why + "; turns go to its chat API"
	}
	if !d.up.Load() && r.Reason() != "" {
		d.show.stage("compare", i.Name, detail)
	}
	d.log.Info("prompts", "worker", i.Name, "found", detail)
	d.ledger.Worker(ledger.WorkerEvent{
		At: time.Now(), Worker: i.Name, Model: i.Caps.Model, PID: i.PID, URL: i.URL, Event: "prompts", Detail: detail,
	})
	return why
}

// compared is what lies in a worker's file.
type compared struct {
	prompts.Report
	Of string `json:"of"` // whose it is, see lifeOf
}

// lifeOf names one life of an engine, the prompts that it was compared with, and who
// did that.
func lifeOf(i turn.WorkerInfo, m *prompt.Model) string {
	return fmt.Sprintf("%d %d %s %s", i.PID, i.Started.UnixNano(), commit, prompts.Sum(m))
}

// compare compares a worker's prompts with those of m. Those of an engine that
// runs since an earlier daemon were compared by that one, if nothing has
// changed since.
func (d *daemon) compare(ctx context.Context, i turn.WorkerInfo, c engine.Client, m *prompt.Model) (r prompts.Report, before bool) {
	path, of := d.folders.Prompts(i.Name), lifeOf(i, m)
	if i.Adopted {
		var old compared
		data, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(data, &old) == nil && old.Of == of && old.Whole() {
			return old.Report, true
		}
	}
	now := compared{prompts.Run(ctx, c, m), of}
	data, err := json.Marshal(now)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		d.log.Warn("prompts", "worker", i.Name, "err", err) // the finding counts all the same
	}
	return now.Report, false
}

// prompts is what makes the prompts of a worker's turns, nil where nobody
// does.
func (m *models) prompts(i turn.WorkerInfo) *prompt.Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	pm := m.served[i.Caps.Model]
	if dir, ok := m.folder[base(i.URL)]; ok && i.Attached {
		pm = m.opened[dir]
	}
	if m.stands[pm] != "" {
		return nil // its prompts are no engine's
	}
	return pm
}

// checkPrompts tells what was found of each worker's prompts, one line each
// and the differences.
func checkPrompts(ctx context.Context, a *app, f folders.Folders) (lines []check) {
	if !f.Alive() {
		return nil
	}
	c, err := a.control()
	if err != nil {
		return nil // the daemon's own line says so
	}
	s, err := c.Now(ctx)
	if err != nil {
		return nil
	}
	runs, _ := f.Daemon()
	trusted := runs.Settings["trust-dyn-template"] == "true"
	for _, w := range s.Workers {
		var r prompts.Report
		data, err := os.ReadFile(f.Prompts(w.Name))
		if err != nil || json.Unmarshal(data, &r) != nil {
			r = prompts.Report{} // nobody looked
		}
		lines = append(lines, promptLine(r, w, trusted))
	}
	return lines
}

// promptLine tells what was found of one worker; trusted is what
// --trust-dyn-template says.
func promptLine(r prompts.Report, w snapshot.Worker, trusted bool) check {
	line := check{"prompts", "ok", w.Name + ": " + r.Summary(), ""}
	switch {
	case r.Reason() != "" && trusted:
		line.Text += "; dyn's are used, as --trust-dyn-template says"
	case r.Reason() != "":
		line.State, line.Text = "warn", w.Name+": "+r.String()
		line.Try = "dyn up --trust-dyn-template, where the engine's template is the wrong one"
	case len(r.Findings) == 0 && w.Path == "chat":
		line.State, line.Text = "warn", w.Name+": turns go to its chat API: "+w.PathWhy
		if w.Attached {
			line.Try = "dyn up --attach " + w.URL + " --model-dir <dir>"
		}
	case w.Path == "both":
		line.Text += "; " + w.PathWhy
	}
	return line
}
