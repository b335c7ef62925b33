package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/route"
	rules "github.com/agentinfer/dyn/route/script"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// Knobs are the settings of the router that may change while it works. The
// zero value is the default of each.
type Knobs struct {
	Strategy  string          // as route/script.New reads it; "" is the default
	Threshold *float64        // steps' worth of uncached prompt tokens pending that make a worker full; below 0 none do; nil is 4
	Depth     int             // turns that wait for one model at most; 0 is route.DefaultQueue, below 0 none do
	Age       time.Duration   // that a turn waits at most; 0 is 5 minutes, below 0 there is no bound
	Gate      route.GateMode  // "" is auto
	Overrides route.Overrides // for turns that set none of their own
}

// knob is one of them, by the key of its setting.
type knob struct {
	key string
	get func(*Knobs) string
	set func(*Knobs, string) error
}

var knobs = []knob{
	{
		"router.mode", func(k *Knobs) string { return cmp.Or(k.Strategy, route.Names()[0]) },
		func(k *Knobs, value string) error {
			_, err := rules.New(value)
			if err == nil {
				k.Strategy = value
			}
			return err
		},
	},
	{
		"router.queue_threshold", func(k *Knobs) string {
			switch t := k.Threshold; {
			case t == nil:
				return strconv.Itoa(route.DefaultThreshold)
			case *t < 0:
				return "off"
			default:
				return written(t)
			}
		},
		func(k *Knobs, value string) error {
			switch value {
			case "":
				k.Threshold = nil
				return nil
			case "off":
				none := -1.0
				k.Threshold = &none
				return nil
			}
			return weigh(&k.Threshold, value)
		},
	},
	{
		"router.queue_depth", func(k *Knobs) string { return strconv.Itoa(max(cmp.Or(k.Depth, route.DefaultQueue), 0)) },
		func(k *Knobs, value string) error {
			n, err := strconv.Atoi(cmp.Or(value, strconv.Itoa(route.DefaultQueue)))
			if err != nil || n < 0 {
				return fmt.Errorf("%q is no whole number", value)
			}
			k.Depth = cmp.Or(n, -1)
			return nil
		},
	},
	{
		"router.queue_age", func(k *Knobs) string {
			if k.Age < 0 {
				return "off"
			}
			return short(cmp.Or(k.Age, ageMost).Round(time.Microsecond))
		},
		func(k *Knobs, value string) error {
			if value == "off" {
				k.Age = -1
				return nil
			}
			d, err := time.ParseDuration(cmp.Or(value, ageMost.String()))
			if err != nil || d < 0 {
				return fmt.Errorf("%q is no time such as 30s or 5m, nor off", value)
			}
			k.Age = max(d, 1)
			return nil
		},
	},
	{
		"router.gate", func(k *Knobs) string { return string(cmp.Or(k.Gate, route.Auto)) },
		func(k *Knobs, value string) (err error) {
			mode, err := route.ParseGate(value)
			if err == nil {
				k.Gate = mode
			}
			return err
		},
	},
	weightKnob("router.temperature", func(k *Knobs) **float64 { return &k.Overrides.Temperature }),
	weightKnob("router.prefill_weight", func(k *Knobs) **float64 { return &k.Overrides.PrefillWeight }),
}

// weightKnob is a number that strategies have a default of; "" is that.
func weightKnob(key string, at func(*Knobs) **float64) knob {
	return knob{
		key, func(k *Knobs) string { return written(*at(k)) },
		func(k *Knobs, value string) error {
			if value == "" {
				*at(k) = nil
				return nil
			}
			return weigh(at(k), value)
		},
	}
}

func weigh(to **float64, value string) error {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x >= 0 && x <= 1e9) {
		return fmt.Errorf("%q is no number of 0 or more, up to 1e9", value)
	}
	*to = &x
	return nil
}

func written(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// short is a time without the parts that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// KnobKeys lists the keys of the settings that are knobs.
func KnobKeys() []string {
	keys := make([]string, len(knobs))
	for i := range knobs {
		keys[i] = knobs[i].key
	}
	return keys
}

// Set sets one knob by the key of its setting; "" is the default of each.
func (k *Knobs) Set(key, value string) error {
	for i := range knobs {
		if knobs[i].key == key {
			return knobs[i].set(k, value)
		}
	}
	return fmt.Errorf("%q cannot be changed while the daemon runs; what can: %s", clip(key), strings.Join(KnobKeys(), ", "))
}

// Text is what a knob is set to, by the key of its setting; "" of a number that
// each strategy has a default of.
func (k Knobs) Text(key string) string {
	for i := range knobs {
		if knobs[i].key == key {
			return knobs[i].get(&k)
		}
	}
	return ""
}

// bound is the threshold in tokens, for route.Candidate: 0 is the default.
func (k *Knobs) bound(batched int) int {
	switch t := k.Threshold; {
	case t == nil:
		return 0
	case *t < 0:
		return -1
	default:
		return max(int(*t*float64(cmp.Or(batched, route.DefaultMaxBatched))), 1)
	}
}

// overrides joins what a turn sets with what the knobs do.
func (k *Knobs) overrides(o turn.Overrides) route.Overrides {
	return route.Overrides{
		Temperature:   cmp.Or(o.Temperature, k.Overrides.Temperature),
		PrefillWeight: cmp.Or(o.PrefillWeight, k.Overrides.PrefillWeight),
		OverlapCredit: cmp.Or(o.OverlapCredit, k.Overrides.OverlapCredit),
	}
}

// settings are the knobs by the keys of their settings.
func (s *Server) settings() map[string]string {
	k, all := s.Knobs(), map[string]string{}
	for i := range knobs {
		all[knobs[i].key] = knobs[i].get(&k)
	}
	return all
}

// setting turns one knob, for the control socket.
func (s *Server) setting(c *fasthttp.RequestCtx) error {
	body, err := s.body(c, nil)
	if err != nil {
		return err
	}
	var ask struct{ Key, Value string }
	if err := json.Unmarshal(body, &ask); err != nil {
		return &turn.Fault{Op: "config set", Err: err}
	}
	s.turning.Lock()
	defer s.turning.Unlock()
	k := s.Knobs()
	was := k.Text(ask.Key)
	if err := k.Set(ask.Key, ask.Value); err != nil {
		return &turn.Fault{Op: "config set", Err: err, Try: "dyn config ls"}
	}
	s.SetKnobs(k)
	now := k.Text(ask.Key)
	if s.o.Turned != nil {
		s.o.Turned(ask.Key, now)
	}
	return reply(c, map[string]string{"key": ask.Key, "was": was, "value": now})
}

// Knobs returns what the knobs are set to now.
func (s *Server) Knobs() Knobs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.knobs
}

// SetKnobs turns the knobs. Turns that wait are decided by them at once.
func (s *Server) SetKnobs(k Knobs) {
	s.mu.Lock()
	s.knobs = k
	s.mu.Unlock()
	for _, m := range s.all() {
		m.setKnobs(k)
	}
}

// setKnobs turns one model's.
func (m *model) setKnobs(k Knobs) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(k)
	m.release()
	for text := range m.strategies {
		if strings.HasSuffix(text, rules.Suffix) {
			delete(m.strategies, text) // it is read again
		}
	}
	for _, b := range m.members {
		b.bound = k.bound(b.info.Caps.MaxBatched)
	}
	m.pump()
}

// turn takes knobs; mu must be held, where anybody else knows the model.
func (m *model) turn(k Knobs) {
	m.knobs = k
	m.queue.Limit = cmp.Or(k.Depth, route.DefaultQueue)
	m.queue.PerTenant = max(m.queue.Limit/tenantShare, 1)
	m.queue.MaxAge = cmp.Or(k.Age, ageMost)
}
