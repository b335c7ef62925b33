package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

var update = flag.Bool("update", false, "write docs/prefix.md anew")

// ways in which a prompt follows the one before: what the model answered, and
// what came after it.
var ways = []string{"call → result", "calls → results", "answer after tools → user", "answer → user"}

// The reasons for which a prompt does not begin with the one before.
const (
	goesOn   = "="
	dropped  = "reasoning dropped"
	rewrites = "earlier text changes"
	nowhere  = "answer in no place of its own"
	refuses  = "refused"
	unclear  = "UNEXPLAINED"
)

// TestPrefix plays a conversation on every template: the ids of each prompt
// begin with those of the prompt before and the answer to it, but where the
// template forbids that. What it forbids is the table in docs/prefix.md.
func TestPrefix(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	files, _ := filepath.Glob(filepath.Join(fixtures(t), "templates", "*.jinja"))
	if len(files) == 0 {
		t.Skip("no templates in the fixtures")
	}
	table := map[string][]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jinja")
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, err := OpenFS(withTemplate(t, string(source)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []string{"on", "off"} {
				for way := range ways {
					cell := play(t, m, mode, way)
					if cell == unclear {
						t.Errorf("thinking %s, %s: the prompt does not go on, and nothing tells why", mode, ways[way])
					}
					table[name] = append(table[name], cell)
				}
			}
		})
	}
	checkPrefixTable(t, table)
}

// keeping are switches of published templates that keep reasoning.
var keeping = map[string]any{
	"clear_thinking": false, "preserve_thinking": true, "preserved_thinking": true, "truncate_history_thinking": false,
}

// TestSwitchesKeepReasoning checks that with its switch set a template's
// prompts go on also when a user speaks again.
func TestSwitchesKeepReasoning(t *testing.T) {
	if slow {
		t.Skip("one goroutine: the race detector finds nothing here")
	}
	files, _ := filepath.Glob(filepath.Join(fixtures(t), "templates", "*.jinja"))
	tried := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range keeping {
			if !bytes.Contains(source, []byte(name)) {
				continue
			}
			tried++
			t.Run(filepath.Base(file)+" "+name, func(t *testing.T) {
				m, err := OpenFS(withTemplate(t, string(source)), Options{Switches: map[string]any{name: value}})
				if err != nil {
					t.Fatal(err)
				}
				for way := range ways {
					if cell := play(t, m, "on", way); cell != goesOn {
						t.Errorf("%s: %s", ways[way], cell)
					}
				}
			})
		}
	}
	if tried == 0 {
		t.Skip("no template in the fixtures has a switch for old reasoning")
	}
}

// markers finds what templates print as tokens of their own.
var markers = regexp.MustCompile(`<[|｜][^<>'"\s{}]{1,60}[|｜]>|</?[a-z_:|｜]+>|\[/?[A-Z_]{2,30}\]|◁/?think▷`)

// withTemplate is the simulated engine's model folder with another template,
// and the template's marks as added tokens.
func withTemplate(t testing.TB, source string) fs.FS {
	t.Helper()
	data, err := fs.ReadFile(model.FS(), "tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	unmarshal(t, data, &file)
	list := file["added_tokens"].([]any)
	have := map[string]bool{}
	for _, a := range list {
		have[a.(map[string]any)["content"].(string)] = true
	}
	for _, s := range append(markers.FindAllString(source, -1), "<|bos|>", "<|eos|>") {
		if !have[s] {
			have[s] = true
			list = append(list, map[string]any{"id": 8000 + len(list), "content": s, "special": true})
		}
	}
	file["added_tokens"] = list
	if data, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		"tokenizer.json":        {Data: data},
		"tokenizer_config.json": {Data: []byte(`{"bos_token":"<|bos|>","eos_token":"<|eos|>"}`)},
		"chat_template.jinja":   {Data: []byte(source)},
	}
}

// player plays one conversation.
type player struct {
	m      *Model
	s      State
	raw    *Raw
	tr     *turn.Turn
	thinks bool // the model reasons before it answers

	last Prompt
	text []byte   // of the last prompt, up to its generation prompt
	want []uint32 // what the next prompt begins with

	heads []string // how the text of the answer may begin
}

const thought = "The user wants it done; I weigh what is best."

// play tells how the last prompt of a way follows the one before.
func play(t *testing.T, m *Model, mode string, way int) string {
	p := &player{m: m, raw: NewRaw("m", 1<<20, nil)}
	p.tr = &turn.Turn{
		Tools:    []turn.Tool{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"},"n":{"type":"integer"}}}`)}},
		Messages: []turn.Message{msg(turn.System, says("Be brief.")), msg(turn.User, says("What is in a.txt?"))},
		Thinking: turn.Thinking{Mode: mode},
	}
	call := func(id, at string) turn.Block {
		return turn.Block{Kind: turn.ToolUse, ID: id, Name: "look", Args: json.RawMessage(`{"at": "` + at + `", "n": 3}`)}
	}
	answer := func(id, s string) turn.Block { return turn.Block{Kind: turn.ToolResult, ID: id, Text: s} }
	if reason := p.ask(); reason != goesOn {
		return reason
	}
	p.thinks = mode == "on" && (p.last.Thinks || m.template.Reasoning() != "" && m.template.Reasoning() != "<think>")
	user, text := msg(turn.User, says("And now?")), says("It holds  three words.")
	one, result := []turn.Block{call("aaaaaaaa1", "a.txt")}, msg(turn.ToolRole, answer("aaaaaaaa1", "three words"))
	two := []turn.Block{call("aaaaaaaa1", "a.txt"), call("aaaaaaaa2", "b.txt")}
	results := msg(turn.ToolRole, answer("aaaaaaaa1", "three words"), answer("aaaaaaaa2", "none"))
	switch way {
	case 0:
		return p.step(t, one, result)
	case 1:
		return p.step(t, two, results)
	case 2:
		if p.step(t, one, result) == refuses {
			return refuses
		}
		return p.step(t, []turn.Block{text}, user)
	}
	return p.step(t, []turn.Block{text}, user)
}

// ask builds the prompt of the conversation so far and tells how it follows
// the one before.
func (p *player) ask() string {
	next, err := p.m.Build(&p.s, p.tr, nil, p.raw)
	if errors.Is(err, template.ErrRefused) {
		return refuses
	}
	if err != nil {
		return err.Error()
	}
	goes := goesOn
	if next.IDs.Len() < len(p.want) || !slices.Equal(next.IDs.Flat()[:len(p.want)], p.want) {
		goes = p.why()
	}
	p.last, p.text = next, bytes.Clone(p.s.page.Text[:p.s.page.Opening])
	if lost := p.lost(); lost != "" {
		return "loses the result " + lost
	}
	return goes
}

// lost is a result of a call that is in what the template prints, and not in the
// prompt; "" when there is none.
func (p *player) lost() string {
	ids := p.m.tok.Decode(nil, p.last.IDs.Flat())
	for i := range p.tr.Messages {
		for _, b := range p.tr.Messages[i].Blocks {
			if b.Kind == turn.ToolResult && bytes.Contains(p.s.page.Text, []byte(b.Text)) && !bytes.Contains(ids, []byte(b.Text)) {
				return b.Text
			}
		}
	}
	return ""
}

// why says why the prompt just built does not go on from the last one.
func (p *player) why() string {
	page := &p.s.page
	i := len(p.tr.Messages) - 2
	for p.tr.Messages[i].Role != turn.Assistant {
		i--
	}
	at := page.Spans[i]
	switch {
	case !bytes.HasPrefix(page.Text, p.text):
		for j := range p.tr.Messages[:i] {
			if said := p.s.known.said[j]; said != nil && said.Thinking != "" && !bytes.Contains(page.Text[:len(p.text)], []byte(said.Thinking)) {
				return dropped
			}
		}
		return rewrites
	case at.Start < 0 || slices.Contains(page.Spans[:i], at) || slices.Contains(page.Spans[i+1:], at):
		return nowhere
	case !slices.ContainsFunc(p.heads, func(s string) bool {
		return s != "" && strings.HasPrefix(strings.TrimSpace(string(page.Text[at.Start:at.End])), strings.TrimSpace(s)[:1])
	}):
		return nowhere // it begins with the end of what is before it
	case p.thinks && !bytes.Contains(page.Text[at.Start:at.End], []byte(thought)):
		return dropped
	}
	return unclear
}

// step lets the model answer and the conversation go on, and tells how the
// next prompt follows. The client sends the answer back without reasoning,
// its arguments written anew.
func (p *player) step(t *testing.T, blocks []turn.Block, next turn.Message) string {
	said := msg(turn.Assistant, blocks...)
	text, err := p.says(said)
	if err != nil {
		text, err = p.says(said, next)
	}
	if err != nil {
		return refuses
	}
	p.heads = []string{p.last.Tail, text}
	if blocks[0].Kind == turn.Text {
		p.heads[1] = blocks[0].Text
	}
	half := len(text) / 2 // not where the tokenizer would cut
	for half < len(text) && text[half] != 'e' {
		half++
	}
	ids := p.m.tok.Encode(p.m.tok.Encode(nil, text[:half]), text[half:])
	before := p.last.Rolling[len(p.last.Rolling)-1]
	raw := turn.RawTurn{Key: Next(before, said), Opening: p.last.Opening, IDs: ids}
	if p.thinks {
		raw.Thinking = thought
	}
	p.raw.Put(before, raw)
	p.want = append(p.last.IDs.Flat(), ids...)
	back := replayed(said)
	for i := range back.Blocks {
		back.Blocks[i].ID = said.Blocks[i].ID // the results refer to it
	}
	p.tr.Messages = append(slices.Clone(p.tr.Messages), back, next)
	return p.ask()
}

// says is an answer as a model of this template writes it: what the template
// prints for it behind the generation prompt, without the end. Templates that
// take no answer as the last message get the next one too.
func (p *player) says(said turn.Message, next ...turn.Message) (string, error) {
	full := *p.tr
	if p.thinks {
		said.Blocks = append([]turn.Block{{Kind: turn.ThinkingBlock, Text: thought}}, said.Blocks...)
	}
	full.Messages = append(append(slices.Clone(p.tr.Messages), said), next...)
	var page template.Page
	if err := p.m.template.Render(&page, &full); err != nil {
		return "", err
	}
	at := page.Spans[len(p.tr.Messages)]
	if at.Start < 0 {
		at = template.Span{Start: min(len(p.text), page.Opening), End: page.Opening}
	}
	span := page.Text[at.Start:at.End]
	span = span[:len(span)-p.m.closing(span)]
	n := commonPrefix(span, []byte(p.last.Tail))
	text := string(span[n:])
	if n < len(p.last.Tail) && !p.thinks { // an empty think block that is not printed again
		text = string(withoutThoughtMarks(bytes.TrimPrefix(span[n:], []byte("/think>"))))
	}
	if p.thinks && !strings.Contains(text, thought) && p.last.Thinks {
		text = thought + "\n</think>\n\n" + strings.TrimLeft(text, "\n")
	}
	return text, nil
}

// checkPrefixTable compares with docs/prefix.md, or writes it.
func checkPrefixTable(t *testing.T, table map[string][]string) {
	file := filepath.Join("..", "docs", "prefix.md")
	if *update {
		if err := os.WriteFile(file, []byte(prefixDoc(table)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, cells := range table {
		row := prefixRow(name, cells)
		old := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(name) + ` \|.*$`).FindString(string(doc))
		if old != "" && old != row || old == "" && row != "" && bytes.Contains(doc, []byte("`"+name+"`")) {
			t.Errorf("docs/prefix.md is stale: it has %q, want %q; go test ./prompt -run TestPrefix -update", old, row)
		}
	}
}

// prefixRow is a template's row of the table, "" when every prompt goes on.
func prefixRow(name string, cells []string) string {
	if !slices.ContainsFunc(cells, func(s string) bool { return s != goesOn }) {
		return ""
	}
	return "| " + name + " | " + strings.Join(cells, " | ") + " |"
}

func prefixDoc(table map[string][]string) string {
	var b strings.Builder
	b.WriteString(prefixHead)
	fmt.Fprintf(&b, "| template | on: %s | off: %s |\n|---|%s\n", strings.Join(ways, " | on: "), strings.Join(ways, " | off: "), strings.Repeat("---|", 2*len(ways)))
	var names, whole []string
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if row := prefixRow(name, table[name]); row != "" {
			b.WriteString(row + "\n")
		} else {
			whole = append(whole, "`"+name+"`")
		}
	}
	fmt.Fprintf(&b, "\nNo exception, of %d templates, have %d: %s.\n", len(names), len(whole), strings.Join(whole, ", "))
	return b.String()
}

const prefixHead = `# Where a prompt does not go on from the one before

The ids of a prompt begin with those of the agent's prompt before and of the
answer to it, so that an engine has all of them cached. That is so with every
template, except where the template itself forbids it. The table lists these
exceptions. It is made by ` + "`go test ./prompt -run TestPrefix -update`" + `, which plays a
conversation on each template: the model thinks (on), if it is one that does,
or is told not to (off), and what it wrote comes back from a client that has
dropped the reasoning and written the arguments anew.

* reasoning dropped: the template prints no reasoning of an answer once a user
  has spoken again. The prompt then differs from where the first reasoning
  stood that is no longer printed. Where a template has a switch to keep it
  (` + "`clear_thinking`, `preserve_thinking`" + ` …), set it in the recipe.
* earlier text changes: the template prints what came before the answer in
  another way once the conversation goes on.
* answer in no place of its own: the template joins the answer with others.
* refused: the template raises an error for such a conversation.

`
