package gpu

import (
	"errors"
	"testing"
)

// Counting twice is the point: the second call would end the process, had the
// first one left the library in a bad state.
func TestCount(t *testing.T) {
	for range 2 {
		g, err := Count()
		if errors.Is(err, ErrNoDriver) {
			if len(g.Cards) != 0 {
				t.Errorf("no driver, yet %d cards", len(g.Cards))
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range g.Cards {
			t.Logf("gpu %d: %s %s, %d of %d MiB free, driver %s", c.Index, c.Name, c.UUID, c.Free>>20, c.Total>>20, g.Driver)
			if c.Name == "" || c.UUID == "" {
				t.Errorf("card %d has no name or id: %+v", c.Index, c)
			}
		}
	}
}
