package install

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestStub(t *testing.T) {
	data := stub("libcudnn.so.9")
	f, err := elf.NewFile(bytes.NewReader([]byte(data)))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_DYN || f.Machine != elf.EM_X86_64 || len(f.Progs) != 2 || f.Progs[0].Filesz != uint64(len(data)) {
		t.Errorf("it reads as %+v", f.FileHeader)
	}
	h := python(t)
	path := filepath.Join(t.TempDir(), "libcudnn.so.9")
	if err := os.WriteFile(path, []byte(data), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(h.Python, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", path).CombinedOutput(); err != nil {
		t.Errorf("the loader does not take it: %v\n%s", err, out)
	}
}
