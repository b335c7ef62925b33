package pace

import (
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	for _, name := range []string{Default, "llama-8b, h100", "Qwen3-32B, 2×H100", "Llama-70B,4xH100"} {
		if _, err := Find(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := Find("abacus"); err == nil || !strings.Contains(err.Error(), Default) {
		t.Errorf("want an error that names what is known, got %v", err)
	}
}

func TestTime(t *testing.T) {
	p := Profile{Fixed: 6, Token: 0.035, Attend: 0.8e-6, Read: 4.9e-5}
	for _, c := range []struct {
		name string
		step func(*Step)
		want time.Duration
	}{
		{"empty", func(*Step) {}, 6 * time.Millisecond},
		{"prefill", func(s *Step) { s.Prefill(1000, 0) }, 41400 * time.Microsecond},
		{"prefill behind a prefix", func(s *Step) { s.Prefill(1000, 10_000) }, 49400 * time.Microsecond},
		{"decode", func(s *Step) { s.Decode(20_000); s.Decode(0) }, 6980 * time.Microsecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Step
			c.step(&s)
			if got := s.Time(p).Round(time.Microsecond); got != c.want {
				t.Errorf("want %v, got %v", c.want, got)
			}
		})
	}
}
