package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Config is vLLM's `--kv-events-config`, field for field.
type Config struct {
	Enable    bool   `json:"enable_kv_cache_events"`
	Publisher string `json:"publisher"`
	Endpoint  string `json:"endpoint"`
	Replay    string `json:"replay_endpoint"`
	Steps     int    `json:"buffer_steps"`
	HWM       int    `json:"hwm"`
	MaxQueue  int    `json:"max_queue_size"`
	Topic     string `json:"topic"`
}

// Parse reads a configuration; unknown keys are errors, absent ones have
// vLLM's defaults. "" is a configuration without events.
func Parse(s string) (Config, error) {
	c := Config{
		Publisher: "zmq", Endpoint: "tcp://*:5557",
		Steps: 10_000, HWM: 100_000, MaxQueue: 100_000,
	}
	if s == "" {
		return c, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("read kv events config: %w", err)
	}
	if c.Publisher != "zmq" && c.Publisher != "null" {
		return c, fmt.Errorf("read kv events config: publisher %q is unknown; known are zmq, null", c.Publisher)
	}
	c.Enable = c.Enable && c.Publisher == "zmq"
	return c, nil
}

// binds reports whether events are published at an address of our own, as
// vLLM decides it; else the publisher connects to who listens there.
func (c Config) binds() bool {
	return strings.Contains(c.Endpoint, "*") || strings.Contains(c.Endpoint, "::")
}
