package keyring

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestRing(t *testing.T) {
	r := Ring{filepath.Join(t.TempDir(), "state", "keys.json")}
	if keys, err := r.Keys(); err != nil || len(keys) != 0 {
		t.Fatalf("without a file: %v, %v", keys, err)
	}
	secret, err := r.Add(turn.Key{Name: "bob", Requests: 3, Tokens: 5, Concurrent: 7, MaxPriority: -2, Capped: true, Route: true})
	if err != nil || len(secret) != len("sk-dyn-")+43 || !strings.HasPrefix(secret, "sk-dyn-") {
		t.Fatalf("secret %q, %v", secret, err)
	}
	other, err := r.Add(turn.Key{Name: "alice"})
	if err != nil || other == secret {
		t.Fatalf("secret %q, %v", other, err)
	}
	keys, err := r.Keys()
	if err != nil || len(keys) != 2 {
		t.Fatalf("keys %+v, %v", keys, err)
	}
	a, b := keys[0], keys[1]
	if a.Name != "alice" || a.Capped || a.Hash != sha256.Sum256([]byte(other)) || a.Salt == "" || a.Salt == b.Salt || a.Created.IsZero() {
		t.Errorf("alice is %+v", a)
	}
	b.Salt, b.Created = "", a.Created
	want := turn.Key{
		Name: "bob", Hash: sha256.Sum256([]byte(secret)), Requests: 3, Tokens: 5, Concurrent: 7, MaxPriority: -2, Capped: true, Route: true,
		Created: a.Created,
	}
	if b != want {
		t.Errorf("bob is %+v, want %+v", b, want)
	}
	data, err := os.ReadFile(r.Path)
	if err != nil || strings.Contains(string(data), secret[7:]) {
		t.Errorf("the file holds the secret (%v)", err)
	}
	if info, err := os.Stat(r.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := r.Remove("bob"); err != nil {
		t.Fatal(err)
	}
	if err := r.Remove("bob"); !errors.Is(err, ErrNone) {
		t.Errorf("again: %v", err)
	}
	if keys, err := r.Keys(); err != nil || len(keys) != 1 {
		t.Errorf("left %+v, %v", keys, err)
	}
}

func TestNames(t *testing.T) {
	r := Ring{filepath.Join(t.TempDir(), "keys.json")}
	for _, name := range []string{"", "local", "Alice", "a b", "-a", "../a", "é", strings.Repeat("a", 65), "a\n"} {
		if _, err := r.Add(turn.Key{Name: name}); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"a", "0.team-x_2", strings.Repeat("a", 64)} {
		if _, err := r.Add(turn.Key{Name: name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := r.Add(turn.Key{Name: name}); !errors.Is(err, ErrExists) {
			t.Errorf("%q again: %v", name, err)
		}
	}
}

// A file that is not as it should be is an error, and is not written over.
func TestBrokenFile(t *testing.T) {
	const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for name, text := range map[string]string{
		"empty":     "",
		"no JSON":   "keys",
		"newer":     `{"v":2,"keys":[]}`,
		"short":     `{"v":1,"keys":[{"name":"a","sha256":"00"}]}`,
		"long":      `{"v":1,"keys":[{"name":"a","sha256":"` + sum + `00"}]}`,
		"no hash":   `{"v":1,"keys":[{"name":"a","sha256":"` + strings.Repeat("x", 64) + `"}]}`,
		"bad name":  `{"v":1,"keys":[{"name":"local","sha256":"` + sum + `"}]}`,
		"two times": `{"v":1,"keys":[{"name":"a","sha256":"` + sum + `"},{"name":"a","sha256":"` + sum + `"}]}`,
	} {
		r := Ring{filepath.Join(t.TempDir(), "keys.json")}
		if err := os.WriteFile(r.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if keys, err := r.Keys(); err == nil {
			t.Errorf("%s: read as %+v", name, keys)
		}
		if _, err := r.Add(turn.Key{Name: "b"}); err == nil {
			t.Errorf("%s: written over", name)
		}
		if data, err := os.ReadFile(r.Path); err != nil || string(data) != text {
			t.Errorf("%s: is %q now, %v", name, data, err)
		}
	}
}

// Keys that are added at once are all there.
func TestManyAtOnce(t *testing.T) {
	r := Ring{filepath.Join(t.TempDir(), "keys.json")}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if _, err := r.Add(turn.Key{Name: fmt.Sprintf("k%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if keys, err := r.Keys(); err != nil || len(keys) != 20 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"keys":[{"name":"a","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","max_priority":3}]}`))
	f.Add([]byte(`{"v":1,"keys":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := parse(data)
		for _, k := range keys {
			if err != nil || !valid(k.Name) {
				t.Fatalf("%+v, %v", k, err)
			}
		}
	})
}
