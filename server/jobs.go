package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// A video is a job: one request starts it, later ones ask for it by its id.
// Whose it is and which worker has it stands on the shelf, so that it outlives
// the daemon, under a name that no response has.

// verbs stand behind /v1/videos/ where an id could; they start jobs.
var verbs = []string{"generations", "edits", "extensions", "characters"}

const (
	jobMost = 1 << 20        // bytes of an answer that may name a job
	jobFor  = 24 * time.Hour // that a job is known
)

// jobOf is the job that a request is about: the one in its path, or the one
// that its body says is to be changed; "" when it is about none.
func jobOf(path string, video json.RawMessage) string {
	rest, ok := strings.CutPrefix(path, "/v1/videos/")
	id, _, _ := strings.Cut(rest, "/")
	if ok && !slices.Contains(verbs, id) {
		return id
	}
	var named struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(video, &named) != nil {
		json.Unmarshal(video, &named.ID) // or it is no name at all
	}
	return named.ID
}

// owned finds the address of the worker that has a job of the caller, "" when
// nobody knows. A job that no caller of this daemon started is there only for
// those without a key: what others made must not be read by trying ids.
func (s *Server) owned(c *call, kind, id string) (url string, err error) {
	r, ok, err := s.onShelf(jobName(kind, id))
	if err != nil {
		return "", err
	}
	if ok && r.Tenant == c.tenant() {
		return r.Model, nil
	}
	if ok || c.who != nil {
		return "", &dialect.Problem{Kind: dialect.NotFound, Message: "no job '" + clip(id) + "' was started with this key"}
	}
	return "", nil
}

func jobName(kind, id string) string { return kind + "/" + id }

// noteJob notes whose the job is that an answer names, and gives the answer
// back as it came.
func (s *Server) noteJob(c *call, up *upstream, resp *http.Response) {
	if resp.StatusCode >= 300 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, jobMost))
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failing{err}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), resp.Body}
	var job struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(head, &job) != nil || job.ID == "" {
		return
	}
	now := time.Now()
	s.shelf.Keep(turn.Stored{
		ID: jobName(up.kind, job.ID), Tenant: c.tenant(), Model: up.url, At: now, Expires: now.Add(jobFor),
		Input: json.RawMessage("[]"), Document: json.RawMessage("{}"),
	})
}

// failing is a reader of what could not be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
