package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/cmd/dyn/internal/garbage"
	"github.com/agentinfer/dyn/cmd/dyn/internal/ports"
	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/server"
)

// daemon is the wiring: it makes the rooms, hands each what it needs of the
// others, and ends them in the other order.
type daemon struct {
	plan       plan
	folders    folders.Folders
	show       *steps
	log        *slog.Logger
	soft       context.Context // done when the daemon shall end
	hard       context.Context // done when it shall not wait for turns any more
	end        [2]context.CancelFunc
	background bool // its output is a log file

	lock    *folders.Lock
	public  net.Listener
	control net.Listener
	hooks   net.PacketConn
	url     string
	ledger  *ledger.Ledger
	fleet   *engine.Fleet
	server  *server.Server
	models  models
	local   localKey
	serving sync.WaitGroup
	up      atomic.Bool // every worker has served a turn

	telling sync.Mutex     // guards who
	who     folders.Daemon // as the run file has it
}

// foreground is `dyn up --foreground`: it returns when the daemon has ended.
func foreground(ctx context.Context, a *app, p plan, show *steps) error {
	return serve(ctx, a, &daemon{plan: p, show: show})
}

// serve runs a daemon until it is told to end.
func serve(ctx context.Context, a *app, d *daemon) error {
	f, err := a.folders()
	if err != nil {
		return err
	}
	syscall.Umask(0o077) // sockets and logs are this user's alone
	out := a.err
	if d.background {
		out = &rolling{path: f.Log("daemon")}
	}
	d.folders, d.log = f, slog.New(slog.NewTextHandler(out, nil))
	d.hard, d.end[1] = context.WithCancel(context.WithoutCancel(ctx))
	d.soft, d.end[0] = context.WithCancel(ctx)
	if err := d.open(); err != nil {
		d.end[1]()
		d.close()
		return err
	}
	<-d.soft.Done()
	d.close()
	return nil
}

// shutdown is what the control socket asks for. It may be called again with
// less patience.
func (d *daemon) shutdown(grace time.Duration) {
	if grace == 0 {
		d.end[1]()
	}
	d.end[0]()
}

// open makes everything, in the order in which it is needed, and returns when
// every worker has served a real turn.
func (d *daemon) open() error {
	r, err := d.recipe()
	if err != nil {
		return err
	}
	if d.lock, err = d.folders.Take(); err != nil {
		if errors.Is(err, folders.ErrHeld) {
			return fail(failed, d.plan.op(), folders.ErrHeld, "one daemon per state folder", "dyn ps")
		}
		return err
	}
	d.models.log = d.log
	if err := d.models.open(d.plan, r); err != nil {
		return err
	}
	if err := d.listen(); err != nil {
		return err
	}
	d.local = newLocalKey()
	d.models.awaited = d.awaited(r)
	d.join()
	d.who = folders.Daemon{PID: os.Getpid(), Started: time.Now(), URL: d.url, Key: d.plan.Key, Local: d.local.secret, Recipe: d.plan.Recipe, Settings: d.plan.Settings}
	d.serve()
	if err := d.tell(func(*folders.Daemon) {}); err != nil {
		return err
	}
	d.show.stage("plan", "", d.plan.summary())
	if d.plan.TrustRemoteCode {
		d.show.stage("plan", "", trusts)
	}
	if err := d.start(r); err != nil {
		return err
	}
	if err := d.tell(func(who *folders.Daemon) { who.Ready = true }); err != nil {
		return err
	}
	d.ready()
	return nil
}

// tell changes what the run file says of the daemon.
func (d *daemon) tell(change func(*folders.Daemon)) error {
	d.telling.Lock()
	defer d.telling.Unlock()
	change(&d.who)
	return d.lock.Write(d.who)
}

// turned hears of a knob of the router that was turned.
func (d *daemon) turned(key, value string) {
	s, _ := config.Find(key)
	d.log.Info("setting", "key", key, "value", value)
	err := d.tell(func(who *folders.Daemon) {
		all := map[string]string{}
		maps.Copy(all, who.Settings)
		all[s.Flag] = value
		who.Settings = all
	})
	if err != nil {
		d.log.Error("run file", "err", err)
	}
}

// recipe is the plan's recipe, nil when only attached engines are served.
func (d *daemon) recipe() (*recipes.Recipe, error) {
	if d.plan.Recipe == "" {
		return nil, nil
	}
	return recipes.Find(d.plan.Recipe)
}

// listen opens the public port, the control socket and the hooks' socket.
func (d *daemon) listen() error {
	var err error
	addr := net.JoinHostPort(d.plan.Host, strconv.Itoa(d.plan.Port))
	if d.public, err = net.Listen("tcp", addr); err != nil {
		return d.taken(err)
	}
	host, port := d.plan.Host, d.public.Addr().(*net.TCPAddr).Port
	d.plan.Port = port // the one that was taken for 0
	if d.plan.Settings != nil {
		d.plan.Settings["port"] = strconv.Itoa(port)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	d.url = "http://" + net.JoinHostPort(host, strconv.Itoa(port))
	if d.control, err = net.Listen("unix", d.folders.Socket()); err != nil {
		return fmt.Errorf("open control socket: %w", err)
	}
	if err := os.Chmod(d.folders.Socket(), 0o600); err != nil {
		return err
	}
	if d.hooks, err = net.ListenPacket("unixgram", d.folders.HookSocket()); err != nil {
		return fmt.Errorf("open hooks' socket: %w", err)
	}
	return os.Chmod(d.folders.HookSocket(), 0o600)
}

// taken says who holds the port, and offers a free one.
func (d *daemon) taken(err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fail(wontFit, d.plan.op(), err, "", "dyn doctor")
	}
	why := "its holder cannot be seen"
	if h, ok := ports.Find(d.plan.Port); ok {
		why = h.String() + " listens on it"
	}
	try := "dyn " + d.plan.op() + " --port 0"
	for port := d.plan.Port + 1; port < d.plan.Port+20 && port <= 65535; port++ {
		if l, err := net.Listen("tcp", net.JoinHostPort(d.plan.Host, strconv.Itoa(port))); err == nil {
			l.Close()
			try = fmt.Sprintf("dyn %s --port %d", d.plan.op(), port)
			break
		}
	}
	return fail(wontFit, d.plan.op(), fmt.Errorf("port %d is taken", d.plan.Port), why, try)
}

// join makes ledger, fleet and server, and ties them together.
func (d *daemon) join() {
	d.ledger = ledger.Open(d.folders.Ledger(), d.plan.ledger())
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	d.fleet = engine.NewFleet(engine.Options{
		Logs: d.folders.Logs(), Run: d.folders.Run(), Sockets: filepath.Dir(d.folders.Socket()), Self: self, Adapters: adapters(),
		OnChange: d.changed, OnKV: d.kv, OnEvent: d.event, Verify: d.verify,
	})
	d.server = server.New(server.Options{
		Version: version, APIKey: d.plan.Key, Gather: d.plan.gather(), LeaseBudget: d.plan.leaseBudget(), KeepText: d.plan.Prompts == "text", Ledger: d.ledger, Fleet: handles{d}, Log: d.log,
		Stop: d.shutdown, Keys: d.keys, Knobs: d.plan.knobs(), Turned: d.turned, Recall: d.recall,
	})
	d.models.add(d.server, d.plan.Recipe)
}

// serve answers clients and commands from now on.
func (d *daemon) serve() {
	go garbage.Run(d.soft)
	go d.learn()
	d.serving.Go(func() {
		if err := d.server.Serve(d.public, d.url); err != nil {
			d.log.Error("serve", "err", err)
		}
	})
	d.serving.Go(func() {
		if err := d.server.ServeControl(d.control); err != nil {
			d.log.Error("serve control socket", "err", err)
		}
	})
	d.serving.Go(func() {
		if err := d.server.ServeHooks(d.hooks); err != nil {
			d.log.Error("serve hooks' socket", "err", err)
		}
	})
}

// The times that an end may take: running turns, then engines without turns.
const (
	turnGrace  = 10 * time.Minute
	childGrace = 5 * time.Second
)

// close ends what was made: first the clients' turns, then the engines, then
// the books. A second signal, or a stop that comes meanwhile and has no
// patience, skips the wait for turns.
func (d *daemon) close() {
	d.log.Info("stopping")
	ctx, cancel := context.WithTimeout(d.hard, turnGrace)
	defer cancel()
	hurry := make(chan os.Signal, 1)
	signal.Notify(hurry, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(hurry)
	go func() {
		select {
		case <-hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	if d.server != nil {
		if err := d.server.Shutdown(ctx); err != nil && ctx.Err() == nil {
			d.log.Error("stop server", "err", err)
		}
		d.remember()
	}
	for _, l := range []net.Listener{d.public, d.control} {
		if l != nil {
			l.Close()
		}
	}
	if d.hooks != nil {
		d.hooks.Close()
	}
	d.serving.Wait()
	if d.fleet != nil {
		if err := d.fleet.Stop(context.Background(), childGrace); err != nil {
			d.log.Error("stop workers", "err", err)
		}
	}
	if d.ledger != nil {
		if err := d.ledger.Close(); err != nil {
			d.log.Error("close ledger", "err", err)
		}
	}
	if d.lock != nil {
		d.lock.Release()
	}
}
