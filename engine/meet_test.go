package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// mute is an adapter and a client to which no server ever says a thing.
type mute struct{}

func (mute) Name() string                            { return "mute" }
func (mute) Launch(Spec, Place) (Launch, error)      { return Launch{}, nil }
func (mute) Open(Endpoint) Client                    { return mute{} }
func (mute) Health(context.Context) error            { return nil }
func (mute) Load(context.Context) (turn.Load, error) { return turn.Load{}, nil }
func (mute) Close()                                  {}
func (mute) Probe(ctx context.Context) (Seen, error) {
	<-ctx.Done()
	return Seen{}, context.Cause(ctx)
}
func (mute) Generate(context.Context, turn.Job) (turn.Stream, error) { return nil, turn.ErrLost }

// An engine that says nothing is given up after the two minutes that the user
// was told, however many adapters there are.
func TestMeetEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Fleet{o: Options{Adapters: []Adapter{mute{}, mute{}, mute{}, mute{}}}}
		began := time.Now()
		_, _, _, err := f.meet(t.Context(), Endpoint{})
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "no token in 2m0s") || took > probeLimit {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
