package container

import (
	"slices"
	"strings"
)

// option is one of the client's run, without its dashes.
type option struct{ name, value string }

// String spells it as a user would.
func (o option) String() string {
	dashes := "--"
	if len(o.name) == 1 {
		dashes = "-"
	}
	return strings.TrimSpace(dashes + o.name + " " + o.value)
}

// options are those that stand before the image.
type options []option

func (all options) any(names ...string) bool {
	return slices.ContainsFunc(all, func(o option) bool { return slices.Contains(names, o.name) && o.value != "false" })
}

// bare are the options that take no value, docker's and podman's.
var bare = []string{
	"d", "detach", "disable-content-trust", "i", "init", "interactive", "no-healthcheck", "oom-kill-disable", "P", "privileged",
	"publish-all", "q", "quiet", "read-only", "rm", "sig-proxy", "t", "tty", "use-api-socket",
	"env-host", "http-proxy", "no-hostname", "no-hosts", "passwd", "read-only-tmpfs", "replace", "rmi", "rootfs", "tls-verify", "unsetenv-all",
}

// read reads options up to the first word that is none.
func read(words []string) (all options) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if len(word) < 2 || word[0] != '-' || word == "--" {
			break
		}
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if word[1] != '-' { // -it, -v/a:/b
			for len(name) > 1 && slices.Contains(bare, name[:1]) {
				all = append(all, option{name[:1], ""})
				name = name[1:]
			}
			if len(name) > 1 {
				value, joined = strings.TrimLeft(word, "-")[strings.Index(word[1:], name)+1:], true
				name = name[:1]
			}
		}
		if !joined && !slices.Contains(bare, name) && i+1 < len(words) {
			i++
			value = words[i]
		}
		all = append(all, option{name, value})
	}
	return all
}

// refused is why an option cannot be; "" is that it can.
func refused(o option) string {
	switch o.name {
	case "d", "detach":
		if o.value != "false" {
			return "dyn has to stay with the engine to see it end; take it away"
		}
	case "name", "cidfile":
		return "each worker has a container of its own, which dyn names; take it away"
	case "network", "net":
		if o.value != "host" {
			return "the engine listens on this machine's loopback, which is in the host's network; take it away"
		}
	case "p", "publish", "P", "publish-all":
		return "others could reach the engine; dyn gives it the host's network, where it listens on loopback; take it away"
	case "restart":
		return "dyn starts the engine anew itself; take it away"
	}
	return ""
}
