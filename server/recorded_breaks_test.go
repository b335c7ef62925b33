package server

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/session"
)

// TestRecordedBreaks plays what clients were recorded to send, in their order.
// Prompts break where a client sums up, and in no conversation that only goes
// on.
func TestRecordedBreaks(t *testing.T) {
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "fixtures")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "recordings", "*.json"))
	if len(files) == 0 {
		t.Skipf("no recordings in %s: set DYN_FIXTURES", dir)
	}
	m := simModel(t)
	turns := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		all, err := replaysOf(name, data, true)
		if err != nil {
			t.Fatal(err)
		}
		s, broke := session.New(session.Limits{}), false
		for i, q := range all {
			b := builtOf(t, s, m, q, time.Unix(int64(1000+i), 0))
			if b == nil {
				continue
			}
			turns++
			if x := b.Break; x != nil {
				broke = true
				if t.Logf("%s: %s at token %d, message %d", q.name, x.Kind, x.Token, x.Message); onlyGoesOn.MatchString(name) {
					t.Errorf("%s: %+v %+v", q.name, *x, *x.Text)
				}
			}
		}
		if strings.Contains(name, "compact-on-error") && !broke {
			t.Errorf("%s: the client sums up, and nothing breaks", name)
		}
	}
	if turns == 0 {
		t.Error("no turn was played")
	}
}

// onlyGoesOn are the recordings of conversations that grow and of which nothing
// else becomes.
var onlyGoesOn = regexp.MustCompile(`toolloop|oneshot|resume|reasoning|thinking|subagent|err529|connreset`)

// fails is what a test says of itself.
type fails interface {
	Errorf(format string, args ...any)
}

// builtOf is the prompt of a recorded request, nil for what is no turn.
func builtOf(t fails, s *session.Store, m *prompt.Model, q replayed, now time.Time) *session.Built {
	d := dialectOf(q.path)
	if d == "" || len(q.body) == 0 {
		return nil
	}
	tr, err := dialect.For(d).Decode(q.body, q.find, nil)
	if err != nil {
		return nil
	}
	if prompt.Bare(tr) {
		prompt.SteadyWith(tr, s.Tools(tr, nil))
	} else {
		prompt.Steady(tr)
	}
	var rolling []uint64
	if tr.Who.Session == "" {
		rolling = prompt.Rolling(nil, tr)
	}
	a := s.Find(tr, rolling, now)
	b, err := a.Build(session.Asked{Model: m, Turn: tr})
	if err != nil {
		t.Errorf("%s: %v", q.name, err)
		return nil
	}
	s.Said(a, b.Rolling, session.Exact{}, 0)
	return &b
}
