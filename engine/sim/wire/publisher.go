package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/agentinfer/dyn/engine/sim/kv"
	"github.com/agentinfer/dyn/engine/zmtp"
)

// patience is how long a replay waits for a peer that does not read.
const patience = 10 * time.Second

// Publisher sends events and answers replay requests. Open it, Close it.
type Publisher struct {
	cfg    Config
	block  int
	form   Hashes
	pub    *zmtp.Pub
	router *zmtp.Router // nil without a replay endpoint
	past   past
	done   chan struct{}
}

// Open opens the sockets of cfg. Block is the number of tokens of a block.
func Open(cfg Config, block int, form Hashes) (*Publisher, error) {
	p := &Publisher{cfg: cfg, block: block, form: form, done: make(chan struct{})}
	p.past.limit = max(cfg.Steps, 1)
	open := zmtp.DialPub
	if cfg.binds() {
		open = zmtp.ListenPub
	}
	var err error
	if p.pub, err = open(cfg.Endpoint); err != nil {
		return nil, fmt.Errorf("open kv events: %w", err)
	}
	p.cfg.Endpoint = p.pub.Addr()
	if cfg.Replay == "" {
		close(p.done)
		return p, nil
	}
	if p.router, err = zmtp.ListenRouter(cfg.Replay); err != nil {
		p.pub.Close()
		return nil, fmt.Errorf("open kv events replay: %w", err)
	}
	p.cfg.Replay = p.router.Addr()
	go p.serve()
	return p, nil
}

// Config is the configuration, with the ports that were bound.
func (p *Publisher) Config() Config { return p.cfg }

// Subscribers counts who listens now.
func (p *Publisher) Subscribers() int { return p.pub.Subscribers() }

// Publish sends the events of one step as the next batch; without events
// there is no batch and no number.
func (p *Publisher) Publish(events []kv.Event) error {
	if len(events) == 0 {
		return nil
	}
	payload := Encode(nil, time.Now(), events, p.block, p.form)
	seq := p.past.add(payload)
	return p.pub.Send([]byte(p.cfg.Topic), number(seq), payload)
}

// Close ends both sockets.
func (p *Publisher) Close() error {
	err := p.pub.Close()
	if p.router != nil {
		err = errors.Join(err, p.router.Close())
	}
	<-p.done
	return err
}

// serve answers replay requests until the router is closed.
func (p *Publisher) serve() {
	defer close(p.done)
	for {
		peer, frames, err := p.router.Recv()
		if err != nil {
			return
		}
		if len(frames) == 2 && len(frames[0]) == 0 && len(frames[1]) == 8 {
			p.replay(peer, binary.BigEndian.Uint64(frames[1]))
		}
	}
}

// replay sends all kept batches from start on, then the end mark.
func (p *Publisher) replay(peer zmtp.Peer, start uint64) {
	first, payloads := p.past.since(start)
	topic := []byte(p.cfg.Topic)
	for i, payload := range payloads {
		if p.send(peer, topic, number(first+uint64(i)), payload) != nil {
			return
		}
	}
	_ = p.send(peer, nil, number(1<<64-1), nil) // a peer that is gone needs no mark
}

// send waits for a peer whose queue is full, for a while.
func (p *Publisher) send(peer zmtp.Peer, topic, seq, payload []byte) error {
	for end := time.Now().Add(patience); ; {
		err := p.router.Send(peer, nil, topic, seq, payload)
		if !errors.Is(err, zmtp.ErrFull) || time.Now().After(end) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
