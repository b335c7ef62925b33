package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// maxKept is how much of a body the tap keeps.
const maxKept = 4 << 20

// exchange is one request and what was answered.
type exchange struct {
	Method, Path string
	Head         http.Header
	Body         []byte
	Status       int // 0 while there is none
	Answer       []byte
	Started      time.Duration // since the tap was made
	done         bool
}

func (e exchange) String() string {
	return fmt.Sprintf("%6.2fs %s %s (%d bytes) → %d (%d bytes)", e.Started.Seconds(), e.Method, e.Path, len(e.Body), e.Status, len(e.Answer))
}

// tap is a proxy that notes what passes. It changes nothing, but cuts one
// answer where it is told to; a client that hangs up hangs up on the other side
// too.
type tap struct {
	addr  string
	began time.Time
	srv   *http.Server

	mu   sync.Mutex // guards all below, and the exchanges
	all  []*exchange
	cut  string // the next answer that holds this is cut there
	cuts int    // how many were
}

// newTap listens on a free port of the loopback interface.
func newTap(to string) (*tap, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &tap{addr: "http://" + ln.Addr().String(), began: time.Now()}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
		},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // a cut stream is what some cases are about
		ModifyResponse: func(r *http.Response) error {
			e := r.Request.Context().Value(key{}).(*exchange)
			t.mu.Lock()
			e.Status = r.StatusCode
			t.mu.Unlock()
			r.Body = &tee{r.Body, t, e}
			return nil
		},
	}
	t.srv = &http.Server{Handler: t.note(proxy), ErrorLog: proxy.ErrorLog, ReadHeaderTimeout: time.Minute}
	go t.srv.Serve(ln)
	return t, nil
}

type key struct{}

// note reads the request before it is passed on.
func (t *tap) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
		if err != nil {
			return // the client left
		}
		e := &exchange{Method: r.Method, Path: r.URL.Path, Head: r.Header.Clone(), Body: body, Started: time.Since(t.began)}
		t.mu.Lock()
		t.all = append(t.all, e)
		t.mu.Unlock()
		defer func() {
			t.mu.Lock()
			e.done = true
			t.mu.Unlock()
		}()
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, e)))
	})
}

// tee keeps what is read of an answer.
type tee struct {
	io.ReadCloser
	t *tap
	e *exchange
}

func (r *tee) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if r.t.cut != "" && strings.Contains(string(r.e.Answer), r.t.cut) {
		r.t.cut = ""
		r.t.cuts++
		return 0, errors.New("cut") // the proxy drops the client's connection
	}
	r.e.Answer = append(r.e.Answer, p[:min(n, maxKept-len(r.e.Answer))]...)
	return n, err
}

// exchanges returns a copy of what was noted so far.
func (t *tap) exchanges() []exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]exchange, len(t.all))
	for i, e := range t.all {
		out[i] = *e
		out[i].Answer = bytes.Clone(e.Answer)
	}
	return out
}

func (t *tap) close() { t.srv.Close() }

// cutAt has the next answer that holds a text cut after it, and returns how
// many were cut before.
func (t *tap) cutAt(text string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut = text
	return t.cuts
}
