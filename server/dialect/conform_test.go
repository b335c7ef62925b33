package dialect

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

var update = flag.Bool("update", false, "write the golden files anew")

// script is an answer, as its events.
type script struct {
	name   string
	turn   turn.Turn // what the encoder goes by
	events []turn.Event
	want   said
}

// said is what a client understood of an answer.
type said struct {
	Thinking, Text string
	Calls          []call
	Stop           string // "end", "calls", "length", "stop", "error" …
	StopText       string // messages only
	Prompt, Cached int
	Output         int
}

// call is a tool call as a client gets it: in responses with its namespace,
// and free text as it is.
type call struct{ ID, Name, Args string }

func think(s string) turn.Event { return turn.Event{Kind: turn.Reasoning, Text: s} }
func says(s string) turn.Event  { return turn.Event{Kind: turn.Says, Text: s} }
func done(r turn.Reason) turn.Event {
	return turn.Event{Kind: turn.Finish, Reason: r, Usage: turn.Usage{Prompt: 100, Cached: 64, Output: 9, Thinking: 3}}
}

func fails(err error) turn.Event { return turn.Event{Kind: turn.Fail, Err: err} }

// calls returns the events of a whole call.
func calls(i int, name string, args ...string) []turn.Event {
	c := turn.Call{Index: i, ID: fmt.Sprintf("id%d", i), Name: name}
	es := []turn.Event{{Kind: turn.CallStart, Call: c}}
	for _, a := range args {
		es = append(es, turn.Event{Kind: turn.CallArgs, Text: a, Call: turn.Call{Index: i}})
	}
	return append(es, turn.Event{Kind: turn.CallEnd, Call: turn.Call{Index: i}})
}

// join puts single events and lists of them in one list.
func join(parts ...any) []turn.Event {
	var es []turn.Event
	for _, p := range parts {
		if e, ok := p.(turn.Event); ok {
			es = append(es, e)
			continue
		}
		es = append(es, p.([]turn.Event)...)
	}
	return es
}

var scripts = []script{
	{
		name: "text", events: join(says("Hello"), says(""), says(", world"), done(turn.Ended)),
		want: said{Text: "Hello, world", Stop: "end"},
	},
	{
		name: "empty", events: join(done(turn.Ended)), want: said{Stop: "end"},
	},
	{
		name:   "thinking, text and calls",
		events: join(think("I "), think("see."), says("Two:"), calls(0, "ls", `{"p"`, `: "a\n"}`), calls(1, "cat", `{}`), done(turn.Called)),
		want:   said{Thinking: "I see.", Text: "Two:", Calls: []call{{"id0", "ls", `{"p": "a\n"}`}, {"id1", "cat", `{}`}}, Stop: "calls"},
	},
	{
		name:   "thinking in the summary",
		turn:   turn.Turn{Echo: json.RawMessage(`{"reasoning":{"summary":"auto"},"tools":[]}`)},
		events: join(think("I see."), says("Yes."), done(turn.Ended)),
		want:   said{Thinking: "I see.", Text: "Yes.", Stop: "end"},
	},
	{
		name:   "text before thinking",
		events: join(says("a"), think("b"), says("c"), done(turn.Ended)),
		want:   said{Thinking: "b", Text: "ac", Stop: "end"},
	},
	{
		name:   "a call without arguments, and the wrong reason",
		events: join(calls(0, "now"), done(turn.Ended)),
		want:   said{Calls: []call{{"id0", "now", "{}"}}, Stop: "calls"},
	},
	{
		name:   "characters that need care",
		events: join(says("\"\\/\b\f\n\r\t\x00\x1f\u2028é😀</script>"), calls(0, "s", `{"q":"\"\\ é😀"}`), done(turn.Called)),
		want:   said{Text: "\"\\/\b\f\n\r\t\x00\x1f\u2028é😀</script>", Calls: []call{{"id0", "s", `{"q":"\"\\ é😀"}`}}, Stop: "calls"},
	},
	{
		name: "cut in text", events: join(says("Once upon"), done(turn.Cut)), want: said{Text: "Once upon", Stop: "length"},
	},
	{
		name: "cut in thinking", events: join(think("Once upon"), done(turn.Cut)), want: said{Thinking: "Once upon", Stop: "length"},
	},
	{
		name:   "cut in a call",
		events: join(calls(0, "write", `{"path":"a","text":"li`), done(turn.Cut)),
		want:   said{Calls: []call{{"id0", "write", `{"path":"a","text":"li`}}, Stop: "length"},
	},
	{
		name:   "a stop string",
		events: join(says("yes"), turn.Event{Kind: turn.Finish, Reason: turn.Stopped, StopText: "</b>", Usage: done("").Usage}),
		want:   said{Text: "yes", Stop: "stop", StopText: "</b>"},
	},
	{
		name: "lost", events: join(says("so f"), fails(turn.ErrLost)), want: said{Text: "so f", Stop: "503"},
	},
	{
		name: "refused", events: join(fails(&turn.Refused{Status: 400, Message: "bad stop"})), want: said{Stop: "400"},
	},
	{
		name: "too long", events: join(fails(&Problem{Kind: TooLong, Prompt: 300, Limit: 200})), want: said{Stop: "400"},
	},
	{
		name: "aborted", events: join(think("h"), done(turn.Aborted)), want: said{Thinking: "h", Stop: "503"},
	},
	{
		name: "names with namespaces, and free text",
		turn: turn.Turn{Tools: []turn.Tool{
			{Name: "multi__spawn", Namespace: "multi", Bare: "spawn"}, {Name: "patch", Bare: "patch", Custom: true},
		}},
		events: join(calls(0, "multi__spawn", `{"a":1}`), calls(1, "spawn", `{}`), calls(2, "multi.spawn"),
			calls(3, "patch", `{"inp`, `ut":"*** \"x\"\n"}`), calls(4, "patch", `{"patch":"y"}`), calls(5, "other", `{}`), done(turn.Called)),
		want: said{Calls: []call{
			{"id0", "multi/spawn", `{"a":1}`},
			{"id1", "multi/spawn", `{}`},
			{"id2", "multi/spawn", `{}`},
			{"id3", "patch", "*** \"x\"\n"},
			{"id4", "patch", "y"},
			{"id5", "other", `{}`},
		}, Stop: "calls"},
	},
}

// client reads wire bytes as strictly as a client may.
type client interface {
	stream(t *testing.T, events []sse) said
	document(t *testing.T, status int, body map[string]any) said
}

var clients = map[turn.Dialect]client{
	turn.Messages: messagesClient{}, turn.Responses: responsesClient{}, turn.Chat: chatClient{},
}

// sse is one server-sent event.
type sse struct {
	name, raw string
	data      map[string]any
}

// parseSSE splits a stream. Every data line must be JSON, or [DONE].
func parseSSE(t *testing.T, wire []byte) []sse {
	t.Helper()
	if len(wire) > 0 && !bytes.HasSuffix(wire, []byte("\n\n")) {
		t.Fatalf("the stream ends inside an event: %q", wire)
	}
	var all []sse
	for _, chunk := range strings.Split(strings.TrimSuffix(string(wire), "\n\n"), "\n\n") {
		var e sse
		for _, line := range strings.Split(chunk, "\n") {
			field, value, _ := strings.Cut(line, ": ")
			switch field {
			case "event":
				e.name = value
			case "data":
				e.raw = value
			default:
				t.Fatalf("line %q", line)
			}
		}
		if e.raw != "[DONE]" {
			if err := json.Unmarshal([]byte(e.raw), &e.data); err != nil {
				t.Fatalf("data %s: %v", e.raw, err)
			}
		}
		all = append(all, e)
	}
	return all
}

// prepare returns a turn as server would hold it.
func (s script) prepare(d turn.Dialect) *turn.Turn {
	t := s.turn
	t.ID, t.Model, t.Dialect, t.IncludeUsage = "t0123456789abcdef", `a "model"`, d, true
	t.Arrived = time.Unix(1760000000, 0)
	return &t
}

// play returns the script's stream.
func (s script) play(d turn.Dialect) []byte {
	enc := For(d).Stream(s.prepare(d))
	wire := enc.Open(nil, turn.Usage{Prompt: 100, Cached: 48})
	for _, e := range s.events {
		wire = enc.Event(wire, e)
	}
	return wire
}

// playSlowly returns the stream with pings in all places, and with what comes
// too late.
func (s script) playSlowly(d turn.Dialect) []byte {
	enc := For(d).Stream(s.prepare(d))
	wire := enc.Ping(enc.Ping(nil))
	wire = enc.Open(enc.Open(wire, turn.Usage{Prompt: 100, Cached: 48}), turn.Usage{})
	for _, e := range s.events {
		wire = enc.Event(enc.Ping(wire), e)
	}
	return enc.Ping(enc.Event(wire, says("too late")))
}

// playUnopened returns the stream of a server that never calls Open.
func (s script) playUnopened(d turn.Dialect) []byte {
	enc := For(d).Stream(s.prepare(d))
	var wire []byte
	for _, e := range s.events {
		wire = enc.Event(wire, e)
	}
	return wire
}

func (s script) document(d turn.Dialect) (int, []byte) {
	doc := For(d).Document(s.prepare(d))
	for _, e := range s.events {
		doc.Add(e)
	}
	doc.Add(says("too late"))
	return doc.JSON()
}

// TestConformance plays every script in every dialect: a strict client must
// understand it, and stream and document must say the same.
func TestConformance(t *testing.T) {
	for d, c := range clients {
		for _, s := range scripts {
			t.Run(string(d)+"/"+s.name, func(t *testing.T) {
				want := s.expect(d)
				var got said
				for _, wire := range [][]byte{s.play(d), s.playSlowly(d), s.playUnopened(d)} {
					got = c.stream(t, parseSSE(t, wire))
					if !reflect.DeepEqual(got, want) {
						t.Errorf("stream: got\n%+v\nwant\n%+v", got, want)
					}
				}
				status, body := s.document(d)
				var doc map[string]any
				if err := json.Unmarshal(body, &doc); err != nil {
					t.Fatalf("document %s: %v", body, err)
				}
				got = c.document(t, status, doc)
				if status != 200 { // a failed document holds no answer
					want = said{Stop: want.Stop}
				}
				if d == turn.Messages && s.name == "cut in a call" {
					want.Calls[0].Args = `{"path":"a","text":"li"}`
				}
				if !sameSaid(got, want) {
					t.Errorf("document: got\n%+v\nwant\n%+v", got, want)
				}
			})
		}
	}
}

// expect returns what a client of the dialect understands.
func (s script) expect(d turn.Dialect) said {
	w := s.want
	w.Calls = append([]call(nil), w.Calls...)
	if len(w.Stop) > 3 || w.Stop == "end" {
		w.Prompt, w.Cached, w.Output = 100, 64, 9
	}
	if d != turn.Messages {
		w.StopText = ""
		if w.Stop == "stop" {
			w.Stop = "end"
		}
	}
	if d != turn.Responses && s.turn.Tools != nil {
		for i, e := range []string{"multi__spawn", "spawn", "multi.spawn"} {
			w.Calls[i].Name = e
		}
		w.Calls[3].Args, w.Calls[4].Args = `{"input":"*** \"x\"\n"}`, `{"patch":"y"}`
	}
	return w
}

// sameSaid compares with arguments as JSON values, since a messages document
// holds objects.
func sameSaid(a, b said) bool {
	for _, s := range []*said{&a, &b} {
		s.Calls = append([]call(nil), s.Calls...)
		for i := range s.Calls {
			var v any
			if json.Unmarshal([]byte(s.Calls[i].Args), &v) == nil {
				canonical, _ := json.Marshal(v)
				s.Calls[i].Args = string(canonical)
			}
		}
	}
	return reflect.DeepEqual(a, b)
}

// TestGolden compares the wire bytes of a few scripts with files, so that a
// change shows as a picture.
func TestGolden(t *testing.T) {
	for d := range clients {
		for _, s := range scripts {
			file := strings.NewReplacer(" ", "-", ",", "").Replace(s.name)
			golden(t, filepath.Join("testdata", string(d), file+".sse"), s.play(d))
			if _, body := s.document(d); !bytes.Contains(body, []byte(`"error"`)) || d == turn.Responses {
				golden(t, filepath.Join("testdata", string(d), file+".json"), append(body, '\n'))
			}
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update writes it anew. Got\n%s", file, got)
	}
}
