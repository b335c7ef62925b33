package fleet

import (
	"fmt"
	"strings"
	"time"
)

// Profile is how fast a model is on its GPUs, and what they hold:
//
//	step in ms = Step + Token·Σp + Square·Σp(ctx+p/2) + Context·Σctx + Seq·n
//
// over chunks of p prompt tokens with ctx before them, and over n requests that
// decode with ctx tokens each.
type Profile struct {
	Name                              string
	Step, Token, Square, Context, Seq float64
	KV                                int // tokens
	Batched                           int // tokens of a step
	Slots                             int // requests at once
}

// DefaultProfile is the profile used when none is named.
const DefaultProfile = "Qwen3-32B, 2xH100"

// Profiles are known by name. They are derived from data sheets and public
// measurements, ±30 %: good for comparing decisions, not for promising
// latencies. The KV sizes of the first two are published by llm-d.
var Profiles = []Profile{
	{DefaultProfile, 7, 0.09, 1.5e-6, 2.8e-5, 0, 307328, 8192, 256},
	{"Llama-70B, 4xH100", 12, 0.11, 1.2e-6, 2.8e-5, 0, 461376, 8192, 256},
	{"Qwen3-14B-FP8, 4090", 16, 0.22, 6.8e-6, 2.0e-4, 0, 28000, 2048, 256},
	{"Llama-8B, H100", 6, 0.035, 0.8e-6, 4.9e-5, 0, 400000, 8192, 256},
	{"fast, 4xH100", 7, 0.09 / 8, 1.5e-6 / 8, 2.8e-5, 0, 633600, 8192, 256},
}

// FindProfile returns the profile of that name; case and spaces do not matter.
func FindProfile(name string) (Profile, error) {
	plain := func(s string) string {
		return strings.NewReplacer(" ", "", "×", "x", ",", "", "-", "").Replace(strings.ToLower(s))
	}
	var known []string
	for _, p := range Profiles {
		if plain(p.Name) == plain(name) {
			return p, nil
		}
		known = append(known, fmt.Sprintf("%q", p.Name))
	}
	return Profile{}, fmt.Errorf("profile %q is unknown; known are %s", name, strings.Join(known, ", "))
}

// prefill is what a chunk of p prompt tokens with ctx before them takes, in ms.
func (m *Profile) prefill(p, ctx int) float64 {
	return m.Token*float64(p) + m.Square*float64(p)*(float64(ctx)+float64(p)/2)
}

// duration makes a time of milliseconds.
func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
