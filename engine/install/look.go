package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/engine/gpu"
)

// Look finds out what matters of this machine. dir is the store's folder.
func Look(ctx context.Context, dir string) Host {
	h := Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Free: free(dir)}
	h.UV, _ = exec.LookPath("uv")
	if path, err := exec.LookPath("python3"); err == nil {
		h.Python = path
		h.Minor = minor(ctx, path)
	}
	cards, _ := gpu.Count() // without a driver there are none
	h.GPUs = len(cards.Cards)
	return h
}

// minor asks a Python for its version 3.x; 0 when it does not say.
func minor(ctx context.Context, python string) int {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c", "import sys; print(sys.version_info[1])").Output()
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return n
}

// Above is the folder itself where it is there, or else the nearest one above
// it that is: what commands that look at a disk can be given.
func Above(dir string) string {
	for {
		up := filepath.Dir(dir)
		if _, err := os.Stat(dir); err == nil || up == dir {
			return dir
		}
		dir = up
	}
}

// free is how many bytes this user may write below a folder that need not be
// there yet; -1 when nobody knows.
func free(dir string) int64 {
	var fs syscall.Statfs_t
	if syscall.Statfs(Above(dir), &fs) != nil {
		return -1
	}
	return int64(fs.Bavail) * int64(fs.Bsize)
}
