package gpu

import (
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// told is a card as NVML answers for it.
type told struct {
	memory nvml.Memory
	code   nvml.Return
}

func (told) GetName() (string, nvml.Return)              { return "card", nvml.SUCCESS }
func (told) GetUUID() (string, nvml.Return)              { return "GPU-1", nvml.SUCCESS }
func (d told) GetMemoryInfo() (nvml.Memory, nvml.Return) { return d.memory, d.code }

// A card without memory of its own (GB10, Jetson) has the machine's, see
// https://github.com/ollama/ollama/pull/12619.
func TestCardMemory(t *testing.T) {
	host := func() (uint64, uint64) { return 128 << 30, 100 << 30 }
	for _, c := range []struct {
		name string
		told told
		host func() (uint64, uint64)
		want Card
	}{
		{"its own", told{nvml.Memory{Total: 80 << 30, Free: 79 << 30}, nvml.SUCCESS}, host, Card{Total: 80 << 30, Free: 79 << 30}},
		{"all taken", told{nvml.Memory{Total: 80 << 30}, nvml.SUCCESS}, host, Card{Total: 80 << 30}},
		{"not supported", told{nvml.Memory{}, nvml.ERROR_NOT_SUPPORTED}, host, Card{Total: 128 << 30, Free: 100 << 30, Shared: true}},
		{"zeros", told{nvml.Memory{}, nvml.SUCCESS}, host, Card{Total: 128 << 30, Free: 100 << 30, Shared: true}},
		{"lost", told{nvml.Memory{}, nvml.ERROR_GPU_IS_LOST}, host, Card{}},
		{"of a machine that does not tell", told{nvml.Memory{}, nvml.ERROR_NOT_SUPPORTED}, func() (uint64, uint64) { return 0, 0 }, Card{Shared: true}},
	} {
		c.want.Index, c.want.Name, c.want.UUID = 3, "card", "GPU-1"
		if got := card(c.told, 3, c.host); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}
