package exchange_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/agentinfer/dyn/engine/exchange"
)

// A short answer as vLLM gives it, over a connection that is kept.
func BenchmarkExchange(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	request := bytes.Repeat([]byte("12345,"), 2000)
	answer := []byte("HTTP/1.1 200 OK\r\ndate: Mon, 30 Nov 2026 10:00:00 GMT\r\nserver: uvicorn\r\n" +
		"content-type: text/event-stream; charset=utf-8\r\nx-request-id: 0123456789abcdef\r\ntransfer-encoding: chunked\r\n\r\n" +
		"13\r\ndata: {\"text\":\"a\"}\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
	go func() {
		k, err := l.Accept()
		if err != nil {
			return
		}
		defer k.Close()
		in := bufio.NewReaderSize(k, 64<<10)
		for {
			for { // the head
				line, err := in.ReadSlice('\n')
				if err != nil {
					return
				}
				if len(line) <= 2 {
					break
				}
			}
			in.Discard(len(request))
			k.Write(answer)
		}
	}()
	c := exchange.New("http://"+l.Addr().String(), exchange.Options{})
	defer c.Close()
	room := make([]byte, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		a, err := c.Post(b.Context(), "/v1/completions", "t0123456789abcdef", request)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = a.Read(room)
		}
		if a.Done(); err != io.EOF {
			b.Fatal(err)
		}
	}
}
