package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/agentinfer/dyn/route"
)

// learntEvery is how often what strategies have learnt is written, besides at
// the end: so much is lost with a daemon that is killed.
const learntEvery = 5 * time.Minute

// learntFile is where a model's strategy keeps what it has learnt; of is the
// name of both.
func learntFile(dir, of string) string {
	return filepath.Join(dir, url.PathEscape(of)+".json")
}

// recall gives a new strategy what the one before it had learnt of the model.
func (d *daemon) recall(of string, s route.Strategy) {
	if err := recall(d.folders.Learnt(), of, s); err != nil {
		d.log.Warn("strategy begins anew", "of", of, "err", err)
	}
}

// recall gives a strategy what the one before it had learnt of the model. One
// that cannot read it begins anew.
func recall(dir, of string, s route.Strategy) error {
	k, ok := s.(route.Keeper)
	if !ok {
		return nil
	}
	b, err := os.ReadFile(learntFile(dir, of))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = k.UnmarshalJSON(b)
	}
	return err
}

// recallPauses gives the server what the daemon before it had learnt of pauses.
func (d *daemon) recallPauses() {
	b, err := os.ReadFile(learntFile(d.folders.Learnt(), "pauses"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = d.server.RecallPauses(b)
	}
	if err != nil {
		d.log.Warn("pauses are learnt anew", "err", err)
	}
}

// keepLearnt writes what strategies have learnt, by their names and models.
func keepLearnt(dir string, learnt map[string][]byte) error {
	if len(learnt) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep what strategies learnt: %w", err)
	}
	var errs []error
	for of, b := range learnt {
		file := learntFile(dir, of)
		err := os.WriteFile(file+".next", b, 0o600)
		if err == nil {
			err = os.Rename(file+".next", file)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// learn writes what strategies have learnt now and then until the daemon ends.
func (d *daemon) learn() {
	tick := time.NewTicker(learntEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.remember()
		case <-d.soft.Done():
			return
		}
	}
}

// remember writes what strategies have learnt.
func (d *daemon) remember() {
	if err := keepLearnt(d.folders.Learnt(), d.server.Learnt()); err != nil {
		d.log.Warn("strategy", "err", err)
	}
}
