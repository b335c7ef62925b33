package memory

import (
	"runtime"
	"testing"
)

func TestRead(t *testing.T) {
	for text, want := range map[string][2]uint64{
		"MemTotal:       24591234 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n": {24591234 << 10, 1 << 20},
		"MemFree: 1 kB\n":  {},
		"MemTotal: much\n": {},
		"":                 {},
	} {
		if total, available := read([]byte(text)); total != want[0] || available != want[1] {
			t.Errorf("%q: %d, %d", text, total, available)
		}
	}
	if total, available := Host(); runtime.GOOS == "linux" && (available == 0 || total < available) {
		t.Errorf("this machine has %d of %d bytes", available, total)
	}
}
