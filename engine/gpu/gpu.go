package gpu

import (
	"errors"
	"fmt"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/agentinfer/dyn/engine/memory"
)

// ErrNoDriver is in the chain when this machine has no NVIDIA driver, or one
// that does not answer.
var ErrNoDriver = errors.New("no NVIDIA driver")

// GPUs are the cards of this machine.
type GPUs struct {
	Driver string // version of the driver
	Cards  []Card // in the order of their PCI addresses, as CUDA_DEVICE_ORDER=PCI_BUS_ID counts
}

// Card is one GPU.
type Card struct {
	Index int
	Name  string
	UUID  string
	Total uint64 // bytes of memory; 0 when nobody tells
	Free  uint64

	Shared bool // it has no memory of its own, but the machine's
}

// busy keeps Count alone: NVML starts and ends for the whole process.
var busy sync.Mutex

// Count lists the cards. The zero GPUs comes with ErrNoDriver where there is
// no driver; cards that answered come with an error about those that did not.
func Count() (GPUs, error) {
	busy.Lock()
	defer busy.Unlock()
	lib := nvml.New()
	if r := lib.Init(); r != nvml.SUCCESS {
		return GPUs{}, fmt.Errorf("count gpus: %w: %s", ErrNoDriver, reason(r))
	}
	defer lib.Shutdown()
	var g GPUs
	g.Driver, _ = lib.SystemGetDriverVersion()
	n, r := lib.DeviceGetCount()
	if r != nvml.SUCCESS {
		return g, fmt.Errorf("count gpus: nvml code %d", r)
	}
	var failed []error
	for i := range n {
		card, err := look(lib, i)
		if err != nil {
			failed = append(failed, fmt.Errorf("gpu %d: %w", i, err))
			continue
		}
		g.Cards = append(g.Cards, card)
	}
	if len(failed) > 0 {
		return g, fmt.Errorf("count gpus: %w", errors.Join(failed...))
	}
	return g, nil
}

func look(lib nvml.Interface, i int) (Card, error) {
	d, r := lib.DeviceGetHandleByIndex(i)
	if r != nvml.SUCCESS {
		return Card{Index: i}, fmt.Errorf("nvml code %d", r)
	}
	return card(d, i, memory.Host), nil
}

// device is what is asked of a card.
type device interface {
	GetName() (string, nvml.Return)
	GetUUID() (string, nvml.Return)
	GetMemoryInfo() (nvml.Memory, nvml.Return)
}

// card asks one. Where it shares one memory with the CPU, NVML does not support
// the question, or answers it with zeros; host tells then.
func card(d device, i int, host func() (total, free uint64)) Card {
	c := Card{Index: i}
	c.Name, _ = d.GetName()
	c.UUID, _ = d.GetUUID()
	m, r := d.GetMemoryInfo()
	if r == nvml.SUCCESS {
		c.Total, c.Free = m.Total, m.Free
	}
	if c.Shared = r == nvml.ERROR_NOT_SUPPORTED || r == nvml.SUCCESS && m.Total == 0; c.Shared {
		c.Total, c.Free = host()
	}
	return c
}

// reason words a failed start. nvml.ErrorString would be a call into the
// library that has just failed to start.
func reason(r nvml.Return) string {
	switch r {
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return "libnvidia-ml.so.1 not found"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return "the driver is not loaded"
	case nvml.ERROR_NO_PERMISSION:
		return "no permission"
	}
	return fmt.Sprintf("nvml code %d", r)
}
