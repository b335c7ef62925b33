package pace

import (
	"fmt"
	"strings"
	"time"
)

// Profile says what computing costs on one model and GPU, in milliseconds.
type Profile struct {
	Name   string
	Fixed  float64 // a step
	Token  float64 // a prompt token
	Attend float64 // a prompt token, for each token before it
	Read   float64 // a cached token read by a decoding request
}

// Default is the profile used when none is named.
const Default = "Llama-8B, H100"

var profiles = []Profile{
	{Default, 6, 0.035, 0.8e-6, 4.9e-5},
	{"Llama-70B, 4xH100", 12, 0.11, 1.2e-6, 2.8e-5},
	{"Qwen3-32B, 2xH100", 9.5, 0.09, 1.5e-6, 4.2e-5},
	{"Qwen3-14B-FP8, 4090", 16, 0.22, 6.8e-6, 2.0e-4},
}

// Find returns the profile of that name; case, spaces and the kind of the
// multiplication sign do not matter. An unknown name is an error that lists
// the known ones.
func Find(name string) (Profile, error) {
	for _, p := range profiles {
		if plain(p.Name) == plain(name) {
			return p, nil
		}
	}
	var known []string
	for _, p := range profiles {
		known = append(known, fmt.Sprintf("%q", p.Name))
	}
	return Profile{}, fmt.Errorf("profile %q is unknown; known are %s", name, strings.Join(known, ", "))
}

func plain(s string) string {
	return strings.NewReplacer(" ", "", "×", "x").Replace(strings.ToLower(s))
}

// Step gathers the work of one step. The zero value is an empty step.
type Step struct {
	prompt float64 // Σp
	attend float64 // Σp(ctx+p/2)
	read   float64 // Σctx of decoding requests
}

// Prefill adds a chunk of n prompt tokens with ctx tokens before it.
func (s *Step) Prefill(n, ctx int) {
	p := float64(n)
	s.prompt += p
	s.attend += p * (float64(ctx) + p/2)
}

// Decode adds a request that computes one token and reads ctx cached ones.
func (s *Step) Decode(ctx int) { s.read += float64(ctx) }

// Time is how long the step takes on p.
func (s Step) Time(p Profile) time.Duration {
	ms := p.Fixed + p.Token*s.prompt + p.Attend*s.attend + p.Read*s.read
	return time.Duration(ms * float64(time.Millisecond))
}
