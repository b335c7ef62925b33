package main

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/server/life"
)

// errNoHook says that no hook was named.
var errNoHook = errors.New("name the hook that calls")

// hookPatience is how long a daemon that does not read its socket may keep a
// hook: a harness waits for each.
const hookPatience = 5 * time.Millisecond

// hooked is `dyn hook`, before anything else of the program is made: it runs
// for each step of an agent. It never fails, since the harness would stop for
// that; what cannot be told is lost. ok is false where the arguments are of
// another command, or ask for help.
func hooked(args []string, in io.Reader) (ok bool) {
	if len(args) < 2 || args[0] != "hook" || strings.HasPrefix(args[1], "-") {
		return false
	}
	n, err := life.Heard(in, args[1])
	if err != nil {
		return true
	}
	socket := ""
	if len(args) > 2 {
		socket = args[2]
	} else if f, err := folders.Find(os.Getenv); err == nil {
		socket = f.HookSocket()
	}
	tell(socket, n.Append(nil))
	return true
}

// tell sends a datagram; where nobody listens it is lost.
func tell(socket string, datagram []byte) {
	c, err := net.Dial("unixgram", socket)
	if err != nil {
		return
	}
	defer c.Close()
	if c.SetWriteDeadline(time.Now().Add(hookPatience)) == nil {
		c.Write(datagram) // lost, if it cannot be
	}
}

// hookCmd is what help says of it: it runs before there are commands.
func hookCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "hook <hook> [<socket>]",
		Short:  "Tell the daemon what a harness says of a session",
		Hidden: true,
		Long: "Reads what a harness hands to one of its hooks on standard input and tells the\n" +
			"daemon what of it concerns a session's turns: names and times, no words of a\n" +
			"person or a model. dyn claude and dyn codex --hooks set it up. It takes a few\n" +
			"milliseconds, prints nothing and never fails, daemon or not.\n\n" +
			"hooks: " + strings.Join(life.Hooks(), " "),
		Example: examples("dyn claude --dry-run", "how it is called"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fail(usage, "hook", errNoHook, "", "dyn hook --help")
		},
		Args: cobra.ArbitraryArgs,
	}
}
