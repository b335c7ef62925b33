package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Exchange is one recorded request and its answer.
type Exchange struct {
	Name     string
	Method   string
	Path     string
	Body     []byte // of the request
	Status   int    // 0 is an answer that never began
	Response []byte // as on the wire: status line, head, body in its chunks
}

// VLLM reads http.jsonl of a folder of vLLM's recordings, by name.
func VLLM(t testing.TB, dir string) map[string]Exchange {
	t.Helper()
	all := map[string]Exchange{}
	for line := range bytes.Lines(read(t, dir, "http.jsonl")) {
		var e struct {
			Name, Method, Path, Request, Response string
			Status                                int
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(e.Request, "\r\n\r\n")
		all[e.Name] = Exchange{
			Name: e.Name, Method: e.Method, Path: e.Path, Body: []byte(body), Status: e.Status, Response: []byte(e.Response),
		}
	}
	return all
}

// Llama reads the exchanges of one file of llama-server's recordings, in
// order; name is the file's without .json.
func Llama(t testing.TB, dir, name string) []Exchange {
	t.Helper()
	var file struct {
		Exchanges []struct {
			Request struct {
				Method, Path string
				Body         json.RawMessage
			}
			Response llamaResponse
		}
	}
	if err := json.Unmarshal(read(t, dir, name+".json"), &file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var all []Exchange
	for _, e := range file.Exchanges {
		one := Exchange{
			Name: name, Method: e.Request.Method, Path: e.Request.Path, Body: plain(e.Request.Body), Response: e.Response.raw(),
		}
		_, _ = fmt.Sscanf(e.Response.Line, "HTTP/1.1 %d", &one.Status) // 0 where there is none
		all = append(all, one)
	}
	return all
}

// llamaResponse is an answer as those files hold it: one of json, text and
// chunks.
type llamaResponse struct {
	Line       string      `json:"status_line"`
	Headers    [][2]string `json:"headers"`
	JSON       json.RawMessage
	Text       json.RawMessage
	Chunks     []struct{ Data string }
	Terminated bool `json:"chunked_terminated"`
}

// raw is the answer as on the wire. Its length is written anew, since
// documents were recorded by their content.
func (r llamaResponse) raw() []byte {
	if r.Line == "" {
		return nil
	}
	body := r.JSON
	if body == nil {
		body = plain(r.Text)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\r\n", r.Line)
	chunked := false
	for _, h := range r.Headers {
		switch {
		case strings.EqualFold(h[0], "Content-Length"):
			continue
		case strings.EqualFold(h[0], "Transfer-Encoding"):
			chunked = true
		}
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if !chunked {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
		return b.Bytes()
	}
	b.WriteString("\r\n")
	if len(body) > 0 {
		fmt.Fprintf(&b, "%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	for _, c := range r.Chunks {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(c.Data), c.Data)
	}
	if r.Terminated {
		b.WriteString("0\r\n\r\n")
	}
	return b.Bytes()
}

// plain is what a JSON string says; anything else stays as it is.
func plain(v json.RawMessage) []byte {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return []byte(s)
	}
	return v
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
