package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// said is a connection from which some bytes come, and then its end.
type said struct {
	net.Conn
	r io.Reader
}

func (s said) Read(b []byte) (int, error) { return s.r.Read(b) }

// heads are answers, and how they are taken: "keep", "close", or "" where the
// head is an error. Behind each body stands "next".
var heads = []struct{ name, in, body, want string }{
	{"length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", "keep"},
	{"vllm", "HTTP/1.1 200 OK\r\ndate: Mon\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "ok", "keep"},
	{"llama.cpp", "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=100\r\nServer: llama.cpp\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;ext=1\r\nk\r\n0\r\nX-Trailer: 1\r\n\r\n", "ok", "keep"},
	{"no reason", "HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno", "no", "keep"},
	{"cases", "HTTP/1.1 200 OK\r\nCONTENT-LENGTH:2\r\nConnection: Upgrade , CLOSE\r\n\r\nok", "ok", "close"},
	{"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: \t2 \n\nok", "ok", "keep"},
	{"continue", "HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", "keep"},
	{"nothing", "HTTP/1.1 204 No Content\r\n\r\n", "", "keep"},
	{"nothing with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "", "keep"},
	{"switched", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "", "close"},
	{"to the end", "HTTP/1.1 200 OK\r\n\r\nok", "oknext", "close"},
	{"old", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", "close"},
	{"old and kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", "ok", "keep"},
	{"length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "ok", "close"},
	{"long line", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 9000) + "\r\nContent-Length: 2\r\n\r\nok", "ok", "keep"},

	{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "", ""},
	{"signed length", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "", ""},
	{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", "", ""},
	{"huge length", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nok", "", ""},
	{"no length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok", "", ""},
	{"lengths in a list", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", "", ""},
	{"two encodings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", ""},
	{"encodings in a list", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "", ""},
	{"unknown encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok", "", ""},
	{"old with chunks", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", ""},
	{"folded", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok", "", ""},
	{"space in a name", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", "", ""},
	{"no name", "HTTP/1.1 200 OK\r\n: 2\r\n\r\nok", "", ""},
	{"no colon", "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\nok", "", ""},
	{"return in a value", "HTTP/1.1 200 OK\r\nX: a\rContent-Length: 2\r\n\r\nok", "", ""},
	{"zero in a value", "HTTP/1.1 200 OK\r\nX: a\x00\r\n\r\nok", "", ""},
	{"status of two digits", "HTTP/1.1 99 Low\r\n\r\n", "", ""},
	{"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "", ""},
	{"status with a sign", "HTTP/1.1 +20 OK\r\n\r\n", "", ""},
	{"later version", "HTTP/2.0 200 OK\r\n\r\n", "", ""},
	{"no version", "200 OK\r\n\r\n", "", ""},
	{"spaces", "HTTP/1.1  200 OK\r\n\r\n", "", ""},
	{"cut", "HTTP/1.1 200 OK\r\nContent-Le", "", ""},
	{"nothing at all", "", "", ""},
}

func TestHead(t *testing.T) {
	for _, c := range heads {
		t.Run(c.name, func(t *testing.T) {
			behind := "next"
			if c.want == "" {
				behind = ""
			}
			k := newConn(said{r: strings.NewReader(c.in + behind)})
			h, err := k.head()
			if c.want == "" {
				if err == nil || err == io.EOF {
					t.Fatalf("%+v, err = %v, want an error", h, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b := newBody(k, h)
			got, err := io.ReadAll(&b)
			if err != nil || string(got) != c.body || h.keep != (c.want == "keep") {
				t.Errorf("body %q, keep %v, err = %v; want %q, %s", got, h.keep, err, c.body, c.want)
			}
			if rest, _ := io.ReadAll(k.in); h.keep && string(rest) != behind {
				t.Errorf("%q is left, want %q", rest, behind)
			}
			if n, err := b.Read(make([]byte, 1)); n > 0 || err != io.EOF {
				t.Errorf("behind the end: %d, %v", n, err)
			}
		})
	}
}

// A body that ends too early, and chunks and trailers that are none, are
// errors, which stay.
func TestBody(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, in := range map[string]string{
		"short":                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
		"short chunk":          chunked + "3\r\nok",
		"no last chunk":        chunked + "2\r\nok\r\n",
		"no size":              chunked + "\r\nok\r\n0\r\n\r\n",
		"signed size":          chunked + "+2\r\nok\r\n0\r\n\r\n",
		"huge size":            chunked + "fffffffffffffffff\r\nok",
		"more than the size":   chunked + "1\r\nok\r\n0\r\n\r\n",
		"no end":               chunked + "2\r\nok\r\n0\r\n",
		"cut end":              chunked + "2\r\nok\r\n0\r\n\r",
		"no trailer":           chunked + "2\r\nok\r\n0\r\nHTTP/1.1 200 OK\r\n\r\n",
		"end without a return": chunked + "2\r\nok\r\n0\r\n\n",
		"endless trailer":      chunked + "2\r\nok\r\n0\r\n" + strings.Repeat("X: y\r\n", 1000) + "\r\n",
		"endless line":         chunked + "2\r\nok\r\n0\r\nX: " + strings.Repeat("y", 10000) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			k := newConn(said{r: strings.NewReader(in)})
			h, err := k.head()
			if err != nil {
				t.Fatal(err)
			}
			b := newBody(k, h)
			got, err := io.ReadAll(&b)
			if err == nil {
				t.Fatalf("a whole body, %q", got)
			}
			if _, again := b.Read(make([]byte, 1)); again != err {
				t.Errorf("then err = %v, want %v", again, err)
			}
		})
	}
}

// FuzzAnswer holds heads and bodies against those that net/http reads: what is
// taken here, it takes too, and sees the same body end at the same byte. It
// takes more: lines that go on, lengths that are told twice.
func FuzzAnswer(f *testing.F) {
	for _, c := range heads {
		f.Add([]byte(c.in + "next"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		k := newConn(said{r: bytes.NewReader(in)})
		h, err := k.head()
		if err != nil {
			return
		}
		r := bufio.NewReaderSize(bytes.NewReader(in), readBuffer)
		theirs, err := http.ReadResponse(r, nil)
		for err == nil && theirs.StatusCode < 200 && theirs.StatusCode != 101 {
			theirs, err = http.ReadResponse(r, nil)
		}
		if err != nil {
			if strings.Contains(err.Error(), "bad trailer key") {
				return // what the trailer may hold is nothing to us
			}
			t.Fatalf("%+v, and theirs: %v", h, err)
		}
		defer theirs.Body.Close()
		if h.status != theirs.StatusCode || h.reason != theirs.Status {
			t.Fatalf("status %d %q, theirs %d %q", h.status, h.reason, theirs.StatusCode, theirs.Status)
		}
		if h.keep && theirs.Close {
			t.Fatalf("%+v is kept", h)
		}
		b := newBody(k, h)
		body, err := io.ReadAll(&b)
		want, wantErr := io.ReadAll(theirs.Body)
		if !bytes.Equal(body, want) || err == nil && wantErr != nil || err != nil && wantErr == nil && !errors.Is(err, errField) {
			t.Fatalf("body %q, err = %v; theirs %q, %v", body, err, want, wantErr)
		}
		if err != nil || !h.keep {
			return
		}
		ours, _ := io.ReadAll(k.in)
		if rest, _ := io.ReadAll(r); !bytes.Equal(ours, rest) {
			t.Fatalf("%q is left, theirs %q", ours, rest)
		}
	})
}
