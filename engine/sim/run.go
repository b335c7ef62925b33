package sim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/agentinfer/dyn/engine/sim/model"
)

// ErrUsage is in the chain of what Run returns for flags that make no sense.
var ErrUsage = errors.New("read flags")

// Run is `dyn worker sim`: it reads flags from args, prints "listening on
// http://host:port" to stdout when it is ready, and serves until it is told to
// stop by SIGTERM, SIGINT or the end of ctx. See the package comment for what
// then becomes of running requests. Asked for help it prints it and returns
// nil.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case o.writeModel != "":
		return model.Write(o.writeModel)
	}
	s, err := newServer(o)
	if err != nil {
		return err
	}
	if s.cut > 0 {
		fmt.Fprintf(stderr, "context is %d tokens: the KV cache holds no more than that\n", s.context)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port)))
	if err != nil {
		s.close()
		return fmt.Errorf("listen: %w", err)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	return s.serve(ctx, l, signals)
}
