package main

import (
	"cmp"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/cmd/dyn/internal/keyring"
	"github.com/agentinfer/dyn/turn"
)

// localKey is the key of the daemon's own launchers. It lives as long as the
// daemon; its secret is in the run file, which this user alone can read.
type localKey struct {
	secret string
	key    turn.Key
}

func newLocalKey() localKey {
	l := localKey{key: turn.Key{Name: keyring.Local, Route: true, Created: time.Now()}}
	l.secret, l.key.Hash = keyring.NewSecret()
	return l
}

// keys are the keys that the server takes: the user's, and with them the
// launchers'. Without keys of the user's there are none, and nobody needs one.
func (d *daemon) keys() ([]turn.Key, error) {
	keys, err := keyring.Ring{Path: d.folders.Keys()}.Keys()
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return append(keys, d.local.key), nil
}

// launchKey is what an agent sends that dyn starts: what the user asks for,
// else the daemon's key, else the launchers' own where keys are needed.
func launchKey(d folders.Daemon, env func(string) string) string {
	local := ""
	if hasKeys() {
		local = d.Local
	}
	return cmp.Or(env("DYN_API_KEY"), d.Key, local)
}

// hasKeys reports whether clients need a key because dyn key add made some,
// or may need one because the keys cannot be read.
func hasKeys() bool {
	f, err := (&app{}).folders()
	if err != nil {
		return false
	}
	keys, err := keyring.Ring{Path: f.Keys()}.Keys()
	return err != nil || len(keys) > 0
}
