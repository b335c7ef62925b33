package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// Limits of connections.
const (
	readTime   = time.Minute
	idleTime   = 5 * time.Second
	maxHeaders = 64 << 10
	flushTime  = 5 * time.Second        // for last bytes, once all answers ended
	deathTime  = 300 * time.Millisecond // for the words of a dead engine
	sameSignal = 200 * time.Millisecond // in which two signals are one: a caller may end ctx on it too
)

// crash ends the process. What was said before it gets a moment to leave.
func crash() {
	time.Sleep(20 * time.Millisecond)
	os.Exit(1)
}

// serve runs the engine and the HTTP side until one of them ends or it is
// told to stop. It closes l and all that the server opened.
func (s *server) serve(ctx context.Context, l net.Listener, signals <-chan os.Signal) error {
	h := &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: s.reading,
		ReadTimeout:       s.reading,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaders,
	}
	defer s.close()
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.engine.Run()
	}()
	broken := make(chan error, 1)
	go func() { broken <- h.Serve(l) }()
	select {
	case <-ctx.Done():
	case <-signals:
	case err := <-broken:
		s.engine.Die()
		return fmt.Errorf("serve: %w", err)
	case <-over:
		_ = finish(h, deathTime)
		_ = h.Close()
		return errors.New("engine core died")
	}
	err := s.stop(h, signals)
	s.engine.Die()
	<-over
	return err
}

// stop ends the server as the package comment tells.
func (s *server) stop(h *http.Server, signals <-chan os.Signal) error {
	done := make(chan error, 1)
	go func() { done <- s.drain(h) }()
	for began := time.Now(); ; {
		select {
		case err := <-done:
			return err
		case <-signals:
			if time.Since(began) < sameSignal {
				continue
			}
			_ = h.Close()
			return errors.New("stopped by a second signal")
		}
	}
}

func (s *server) drain(h *http.Server) error {
	if s.o.grace == 0 {
		s.engine.Abort()
		return finish(h, flushTime)
	}
	s.engine.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), s.o.grace)
	defer cancel()
	if s.engine.Idle(ctx) == nil {
		return finish(h, flushTime)
	}
	s.engine.Freeze()
	return h.Shutdown(context.Background())
}

// finish stops listening and waits for open requests, for a time; then it
// closes their connections.
func finish(h *http.Server, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if h.Shutdown(ctx) != nil {
		_ = h.Close()
	}
	return nil
}
