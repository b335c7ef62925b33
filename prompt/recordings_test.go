package prompt

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// recorded is one request of a real client, its prompt by two templates.
type recorded struct {
	Seq     int
	Path    string
	Headers [][2]string
	Body    map[string]any
	Common  *struct {
		Seq   int `json:"with_seq"`
		Chars int
		Of    int
	} `json:"longest_common_prompt_prefix"`

	turn *turn.Turn
	text []byte
}

func (r *recorded) header(name string) string {
	for _, h := range r.Headers {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// dialectOf tells the API of a path, "" for what is no turn.
func dialectOf(path string) turn.Dialect {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return turn.Messages
	case strings.HasSuffix(path, "/responses"):
		return turn.Responses
	case strings.HasSuffix(path, "/chat/completions"):
		return turn.Chat
	}
	return ""
}

// readRecording reads a recording's turns. Texts that it holds cut are as long
// as they were, and equal where they were equal; full puts their rest.
func readRecording(t *testing.T, data []byte, full func(head string, n int, hash string) string) []*recorded {
	var doc struct{ Requests []*recorded }
	unmarshal(t, data, &doc)
	tools := map[int]any{}
	var turns []*recorded
	for _, r := range doc.Requests {
		d := dialectOf(r.Path)
		if r.Body == nil || d == "" {
			continue
		}
		if ref, ok := r.Body["tools"].(map[string]any); ok {
			seq, _ := ref["$same_as_seq"].(float64)
			r.Body["tools"] = tools[int(seq)]
		}
		tools[r.Seq] = r.Body["tools"]
		body, err := json.Marshal(whole(r.Body, full))
		if err != nil {
			t.Fatal(err)
		}
		if r.turn, err = dialect.For(d).Decode(body, r.header, nil); err != nil {
			t.Logf("request %d is refused: %v", r.Seq, err)
			continue
		}
		Steady(r.turn)
		turns = append(turns, r)
	}
	return turns
}

// whole puts texts in place of what a recording holds of them.
func whole(v any, full func(head string, n int, hash string) string) any {
	switch v := v.(type) {
	case map[string]any:
		if head, ok := v["$head"].(string); ok {
			n, _ := v["$len"].(float64)
			hash, _ := v["$sha256"].(string)
			return full(head, int(n), hash)
		}
		out := map[string]any{}
		for k, e := range v {
			out[k] = whole(e, full)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = whole(e, full)
		}
		return out
	}
	return v
}

// filled goes on from head with words that its hash decides.
func filled(head string, n int, hash string) string {
	seed, _ := strconv.ParseUint(hash, 16, 64)
	r := rand.New(rand.NewPCG(seed, 1))
	b := []byte(head)
	for len(b) < n {
		b = strconv.AppendUint(append(b, " word"...), uint64(r.IntN(1000)), 10)
	}
	return string(b[:max(n, len(head))])
}

// twoTemplates are a template that prints the system's text before the tools,
// and one that prints it after them.
func twoTemplates(t *testing.T) map[string]*Model {
	t.Helper()
	models := map[string]*Model{}
	for _, name := range []string{"dj-Qwen-Qwen3-0.6B", "dj-GLM-4.6", "GLM-5.2"} {
		source, err := os.ReadFile(filepath.Join(fixtures(t), "templates", name+".jinja"))
		if os.IsNotExist(err) {
			t.Logf("template %s is not there", name)
			continue
		}
		m, err := OpenFS(withTemplate(t, string(source)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		models[name] = m
	}
	if len(models) == 0 {
		t.Skip("none of the templates is there")
	}
	return models
}

// TestRecordedPrefixes: over what real clients sent, the prompts of a session
// have as much in common as the requests had, in proportion. What the rules of
// Steady are for is more: a moved attribution hash, and tools that were found.
func TestRecordedPrefixes(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	files, _ := filepath.Glob(filepath.Join(fixtures(t), "recordings", "*.json"))
	if len(files) == 0 {
		t.Skip("no recordings in the fixtures")
	}
	for name, m := range twoTemplates(t) {
		pairs, least := 0, 1.0 // of what was recorded
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n, low := recordedPairs(t, m, name+", "+filepath.Base(file), readRecording(t, data, filled))
			pairs, least = pairs+n, min(least, low)
		}
		t.Logf("%s: %d pairs, the least has %.3f of what was recorded", name, pairs, least)
		if pairs == 0 {
			t.Errorf("%s: no pair was compared", name)
		}
	}
}

// slack is how much less the common part may be than what was recorded: the
// generation prompt, and what templates print around each message.
const slack = 0.01

// oneAgent reports whether two turns are of one agent; clients that do not
// tell are taken by their system prompt.
func oneAgent(a, b *turn.Turn) bool {
	if a.Who.Session == "" && b.Who.Session == "" {
		return Rolling(nil, a)[0] == Rolling(nil, b)[0]
	}
	return a.Who.Session == b.Who.Session && a.Who.Agent == b.Who.Agent
}

// found reports whether a turn holds the definition of a tool that was found.
func found(t *turn.Turn) bool {
	last := &t.Messages[len(t.Messages)-1]
	for i := range last.Blocks {
		if strings.Contains(last.Blocks[i].Text, "<functions>\n<function>{") {
			return true
		}
	}
	return false
}

func recordedPairs(t *testing.T, m *Model, name string, turns []*recorded) (pairs int, least float64) {
	least = 1
	bySeq := map[int]*recorded{}
	for _, r := range turns {
		var s State
		if _, err := m.Build(&s, r.turn, nil, nil); err != nil {
			t.Errorf("%s: request %d: %v", name, r.Seq, err)
			continue
		}
		r.text = s.page.Text[:s.page.Opening]
		bySeq[r.Seq] = r
		if r.Common == nil {
			continue
		}
		old := bySeq[r.Common.Seq]
		if old == nil || !oneAgent(old.turn, r.turn) {
			continue
		}
		pairs++
		want := float64(r.Common.Chars) / float64(r.Common.Of)
		got := float64(commonPrefix(old.text, r.text)) / float64(len(r.text))
		if found(r.turn) {
			t.Logf("%s: request %d: a tool was found; recorded %.3f, got %.3f", name, r.Seq, want, got)
			want = max(want, 0.9) // what was recorded begins with the tools that were found
		}
		if want > 0 {
			least = min(least, got/want)
		}
		if got < want-slack {
			t.Errorf("%s: requests %d and %d have %.3f in common, recorded are %.3f: they part before %.60q", name, old.Seq, r.Seq, got, want, r.text[commonPrefix(old.text, r.text):])
		}
	}
	return pairs, least
}
