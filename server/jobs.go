package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/dialect/tape"
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
func jobOf(path, contentType string, body []byte) (id string, err error) {
	rest, ok := strings.CutPrefix(path, "/v1/videos/")
	if id, _, _ = strings.Cut(rest, "/"); ok && !slices.Contains(verbs, id) {
		return id, nil
	}
	switch kind, more, _ := mime.ParseMediaType(contentType); {
	case len(body) == 0:
		return "", nil
	case kind == "multipart/form-data":
		return "", formNamesNone(multipart.NewReader(bytes.NewReader(body), more["boundary"]))
	case kind == "application/x-www-form-urlencoded":
		return "", errForm
	}
	doc, err := tape.Parse(body)
	if err != nil {
		return "", &dialect.Problem{Message: "the body is no JSON: " + err.Error()}
	}
	defer doc.Free()
	video, err := only(doc.Root(), "video")
	if err != nil || video.Kind() != tape.Object {
		return video.Text(), err
	}
	named, err := only(video, "id")
	return named.Text(), err
}

// only is a member of an object. An engine may take the first of several of a
// name, or the last.
func only(object tape.Value, name string) (found tape.Value, err error) {
	for key, v := range object.Fields() {
		if key.Text() != name {
			continue
		}
		if found.Given() {
			return found, &dialect.Problem{Param: name, Message: "stands twice in the body"}
		}
		found = v
	}
	return found, nil
}

// errForm is for forms that may name a job: how depends on who reads them.
var errForm = &dialect.Problem{Param: "video", Message: "a video that is here already is named in a JSON body, {\"video\":{\"id\":…}}; a form may only bring a file"}

// formNamesNone makes sure that a form brings its video, if it has one, as a
// file.
func formNamesNone(form *multipart.Reader) error {
	for {
		p, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &dialect.Problem{Message: "the form cannot be read: " + clip(err.Error())}
		}
		if name := p.FormName(); p.FileName() == "" && (name == "" || strings.HasPrefix(strings.ToLower(name), "video")) {
			return errForm
		}
	}
}

// owned finds the address of the worker that has a job of the caller, "" when
// nobody knows or it is about none. A job that no caller of this daemon started is there only for
// those without a key: what others made must not be read by trying ids.
func (s *Server) owned(c *call, kind, id string) (url string, err error) {
	if id == "" {
		return "", nil
	}
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
