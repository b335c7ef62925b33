package ports

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestFindSelf(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h, ok := Find(l.Addr().(*net.TCPAddr).Port)
	if !ok || h.PID != os.Getpid() {
		t.Fatalf("holder = %v %v, want pid %d", h, ok, os.Getpid())
	}
	if h.Program == "" || h.Program == "unknown" {
		t.Fatalf("program = %q, want the test's name", h.Program)
	}
}

func TestFind(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	const listen = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 777 1\n"
	const talk = "   1: 0100007F:1F90 0100007F:9000 01 00000000:00000000 00:00000000 00000000     0        0 778 1\n"
	for _, c := range []struct {
		name, table, fd string
		want            string
		held            bool
	}{
		{"held", head + listen, "socket:[777]", "pid 42 (python)", true},
		{"of another user", head + listen, "socket:[9]", "a process of another user", true},
		{"a connection only", head + talk, "socket:[778]", "", false},
		{"cut row", head + "0: 0100", "socket:[777]", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			proc := t.TempDir()
			for path, text := range map[string]string{"net/tcp": c.table, "42/comm": "python\n"} {
				path = filepath.Join(proc, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(proc, "42", "fd"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(c.fd, filepath.Join(proc, "42", "fd", "3")); err != nil {
				t.Fatal(err)
			}
			h, ok := find(proc, 8080)
			if ok != c.held || (ok && h.String() != c.want) {
				t.Fatalf("got %v %v, want %q %v", h, ok, c.want, c.held)
			}
		})
	}
}
