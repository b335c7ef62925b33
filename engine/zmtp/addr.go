package zmtp

import (
	"fmt"
	"net"
	"strings"
)

// dialAddr turns "tcp://host:port" into "host:port".
func dialAddr(addr string) (string, error) {
	rest, ok := strings.CutPrefix(addr, "tcp://")
	if !ok {
		return "", fmt.Errorf("address %q: only tcp:// is spoken", addr)
	}
	if _, _, err := net.SplitHostPort(rest); err != nil {
		return "", fmt.Errorf("address %q: %w", addr, err)
	}
	return rest, nil
}

// listenAddr is dialAddr, with "*" or no host meaning loopback: event feeds
// tell prompts and have no authentication, so they stay on the machine.
func listenAddr(addr string) (string, error) {
	rest, err := dialAddr(addr)
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return "", err
	}
	if host == "*" || host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
