package keyring

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentinfer/dyn/turn"
)

// Local is the name of the key that the daemon's own launchers send. No other
// key may have it.
const Local = "local"

// What can be wrong with a name.
var (
	ErrName   = errors.New("a key's name is small letters, digits, dots, dashes and underscores, at most 64, and not " + Local)
	ErrExists = errors.New("there is a key of that name already")
	ErrNone   = errors.New("there is no key of that name")
)

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// maxFile bounds what is read.
const maxFile = 4 << 20

// Ring is the file of keys at a path. It holds nothing in memory and is safe
// for concurrent use, also by several processes.
type Ring struct{ Path string }

// file is the form of the file.
type file struct {
	V    int     `json:"v"` // 1
	Keys []entry `json:"keys"`
}

// entry is one key in the file.
type entry struct {
	Name        string    `json:"name"`
	Hash        string    `json:"sha256"`
	Salt        string    `json:"salt"`
	Requests    int       `json:"requests_per_minute,omitempty"`
	Tokens      int       `json:"tokens_per_minute,omitempty"`
	Concurrent  int       `json:"concurrent,omitempty"`
	MaxPriority *int      `json:"max_priority,omitempty"`
	Route       bool      `json:"route,omitempty"`
	Created     time.Time `json:"created"`
}

// NewSecret returns a secret and its hash.
func NewSecret() (secret string, hash [sha256.Size]byte) {
	var b [32]byte
	rand.Read(b[:]) // never fails
	secret = "sk-dyn-" + base64.RawURLEncoding.EncodeToString(b[:])
	return secret, sha256.Sum256([]byte(secret))
}

// Keys returns the keys by name; none where there is no file.
func (r Ring) Keys() ([]turn.Key, error) {
	data, err := os.ReadFile(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	keys, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("read keys: %s: %w", r.Path, err)
	}
	return keys, nil
}

// parse reads the file's form.
func parse(data []byte) ([]turn.Key, error) {
	var f file
	switch err := json.Unmarshal(data, &f); {
	case len(data) > maxFile:
		return nil, fmt.Errorf("%d bytes, at most %d", len(data), maxFile)
	case err != nil:
		return nil, err
	case f.V != 1:
		return nil, fmt.Errorf("its version is %d, this dyn reads 1", f.V)
	}
	keys := make([]turn.Key, 0, len(f.Keys))
	for _, e := range f.Keys {
		k := turn.Key{
			Name: e.Name, Salt: e.Salt, Requests: e.Requests, Tokens: e.Tokens, Concurrent: e.Concurrent, Created: e.Created,
			Route: e.Route,
		}
		if n, err := hex.Decode(k.Hash[:], []byte(e.Hash[:min(len(e.Hash), 2*sha256.Size)])); err != nil || n != sha256.Size || len(e.Hash) != 2*n {
			return nil, fmt.Errorf("the hash of key %q is none", e.Name)
		}
		if !valid(e.Name) || slices.ContainsFunc(keys, func(o turn.Key) bool { return o.Name == e.Name }) {
			return nil, fmt.Errorf("key %q: its name is wrong or there twice", e.Name)
		}
		if k.Capped = e.MaxPriority != nil; k.Capped {
			k.MaxPriority = *e.MaxPriority
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func valid(name string) bool { return nameForm.MatchString(name) && name != Local }

// Add makes a key and returns its secret. Name and limits are k's; hash, salt
// and time are made here. The error wraps ErrName or ErrExists.
func (r Ring) Add(k turn.Key) (secret string, err error) {
	if !valid(k.Name) {
		return "", fmt.Errorf("add key %q: %w", k.Name, ErrName)
	}
	secret, k.Hash = NewSecret()
	k.Salt, k.Created = rand.Text(), time.Now().UTC().Truncate(time.Second)
	return secret, r.change(func(keys []turn.Key) ([]turn.Key, error) {
		if slices.ContainsFunc(keys, func(o turn.Key) bool { return o.Name == k.Name }) {
			return nil, fmt.Errorf("add key %q: %w", k.Name, ErrExists)
		}
		return append(keys, k), nil
	})
}

// Remove takes a key away. The error wraps ErrNone.
func (r Ring) Remove(name string) error {
	return r.change(func(keys []turn.Key) ([]turn.Key, error) {
		left := slices.DeleteFunc(slices.Clone(keys), func(o turn.Key) bool { return o.Name == name })
		if len(left) == len(keys) {
			return nil, fmt.Errorf("remove key %q: %w", name, ErrNone)
		}
		return left, nil
	})
}

// change replaces the file by what do makes of its keys, one process at a
// time.
func (r Ring) change(do func([]turn.Key) ([]turn.Key, error)) error {
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o700); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	lock, err := os.OpenFile(r.Path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("write keys: lock: %w", err)
	}
	keys, err := r.Keys()
	if err != nil {
		return err
	}
	if keys, err = do(keys); err != nil {
		return err
	}
	return r.write(keys)
}

// write replaces the file, whole or not at all.
func (r Ring) write(keys []turn.Key) error {
	f := file{V: 1, Keys: []entry{}}
	for _, k := range keys {
		e := entry{
			Name: k.Name, Hash: hex.EncodeToString(k.Hash[:]), Salt: k.Salt, Requests: k.Requests, Tokens: k.Tokens,
			Concurrent: k.Concurrent, Created: k.Created, Route: k.Route,
		}
		if k.Capped {
			e.MaxPriority = &k.MaxPriority
		}
		f.Keys = append(f.Keys, e)
	}
	slices.SortFunc(f.Keys, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	next, err := os.OpenFile(r.Path+".next", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	_, err = next.Write(append(data, '\n'))
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(r.Path+".next", r.Path)
	}
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	return nil
}
