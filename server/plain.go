package server

import (
	"net"
	"net/http"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
)

const eventStream = "text/event-stream; charset=utf-8"

// plain streams to a client of HTTP/1.0, which knows no chunks: its answer
// ends where the connection does. fasthttp would send chunks, so the
// connection is taken from it.
func (f *flight) plain(c *call, enc dialect.Encoder, as *answers, first item) {
	id := string(c.Response.Header.Peek("x-request-id"))
	c.HijackSetNoResponse(true)
	c.Hijack(func(conn net.Conn) {
		defer f.watch()
		out := &sink{w: conn, deadline: conn.SetWriteDeadline, patience: f.s.o.Patience}
		out.write([]byte("HTTP/1.0 200 OK\r\nContent-Type: " + eventStream + "\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n" +
			"Date: " + time.Now().UTC().Format(http.TimeFormat) + "\r\nX-Request-Id: " + id + "\r\nConnection: close\r\n\r\n"))
		f.emit(out, enc, as, first)
	})
}
