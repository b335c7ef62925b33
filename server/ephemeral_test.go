package server

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	simmodel "github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/life"
)

// wanted is the share of the rig's worker that sessions will want, and how many
// tokens of them are hot.
func (r *rig) wanted() (tokens, hot int) {
	m, _ := r.s.known("sim")
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, b := range m.members {
		c := route.Candidate{Worker: name}
		m.books.Fill(time.Now().Add(time.Second), &route.Need{}, &c)
		return int(c.Wanted * float64(b.info.Caps.KVTokens)), c.Hot
	}
	return -1, -1
}

// TestCompactionOfALongSession is the one that the articles tell of: a context of about
// 175,000 tokens becomes one of about 40,000. What the summary stands for is
// nobody's from the summary on: it is not in use, keeps its price for a while,
// and is shown.
func TestCompactionOfALongSession(t *testing.T) {
	r := newRig(t, 1, brainFile(t, livesBrain), "--max-model-len=262144", "--kv-tokens=400000")
	user := func(text string) string { return `{"role":"user","content":` + quote(text) + `}` }
	ask := func(messages ...string) {
		t.Helper()
		body := `{"model":"sim","max_tokens":500,"system":` + quote("Help with code. "+words(100)) + `,"messages":[` + strings.Join(messages, ",") + `]}`
		if status, answer := r.post("/v1/messages", body, "x-dyn-session-id", "s"); status != 200 {
			t.Fatalf("%d %.300s", status, answer)
		}
	}
	const so = `{"role":"assistant","content":"So it is."}`
	before := user(words(16_500))
	ask(before)
	ask(before, so, user("CRITICAL: Respond with TEXT ONLY. Sum it up."))
	if _, l := r.agent("s", "main"); l.Doing != life.Compacting {
		t.Fatalf("after the summary it does %+v", l)
	}
	if tokens, hot := r.wanted(); hot != 0 || tokens < 150_000 {
		t.Errorf("after the summary %d tokens are hot, and %d priced", hot, tokens)
	}
	ask(user("This session is being continued from a previous conversation. " + words(3_900)))
	rows := r.rows(3)
	long, short := rows[1].Prompt, rows[2].Prompt
	if long < 160_000 || long > 190_000 || short < 35_000 || short > 45_000 {
		t.Fatalf("prompts of %d and %d tokens", long, short)
	}
	tokens, hot := r.wanted()
	if most := short + 1000; hot > most || hot < short-1000 {
		t.Errorf("%d tokens are hot, the prompt has %d", hot, short)
	}
	if tokens < long || tokens > long+short+1000 {
		t.Errorf("%d tokens are priced of %d and %d", tokens, long, short)
	}
	var steps []string
	for _, e := range r.events(2) {
		steps = append(steps, e.Event+" "+e.Source)
	}
	if got := strings.Join(steps, ", "); got != "compacting seen, compacted seen" {
		t.Errorf("in the ledger: %s", got)
	}
	a := r.shown("s", "main")
	if gone := long - short/10; a.Gone < gone || a.Context > short+1000 {
		t.Errorf("%d tokens of nobody are shown, beside a context of %d", a.Gone, a.Context)
	}
}

// thinkBrain thinks before a call and before its answer.
const thinkBrain = `
  - when: 'what was seen'
    say: So it is.
  - when: 'look at it'
    say: |-
      <think>
      I shall look at it, as it was asked for, and I shall look well at all of it.
      </think>

      <tool_call>
      {"name": "Look", "arguments": {}}
      </tool_call>
  - say: |-
      <think>
      Nothing is to be looked at, so I can say what I know of it at once.
      </think>

      So it is.
`

// forgetful is a template that prints reasoning until a person speaks again.
const forgetful = `{%- set ns = namespace(last=0) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- for m in messages -%}<|im_start|>{{ m.role }}
{% if m.reasoning_content and loop.index0 > ns.last %}<think>
{{ m.reasoning_content }}
</think>

{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}}</tool_call>{% endfor %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}`

// forgetfulModel is the simulated model with that template.
func forgetfulModel(t *testing.T) *prompt.Model {
	t.Helper()
	fsys := fstest.MapFS{"chat_template.jinja": {Data: []byte(forgetful)}}
	for _, name := range []string{"tokenizer.json", "config.json", "generation_config.json"} {
		data, err := simmodel.FS().(interface {
			ReadFile(string) ([]byte, error)
		}).ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fsys[name] = &fstest.MapFile{Data: data}
	}
	m, err := prompt.OpenFS(fsys, prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDroppedThinkingIsNoCache: while a loop of calls is open its reasoning
// counts; once it is closed, what stands from the reasoning on is nobody's. The
// next prompt shows that it was foreseen rightly.
func TestDroppedThinkingIsNoCache(t *testing.T) {
	r := newRigOf(t, Options{}, Model{ID: "sim", Prompt: forgetfulModel(t), Parser: hermes}, 1, brainFile(t, thinkBrain))
	if got := r.s.models["sim"].Prompt.Drops(); got != prompt.DropsClosed {
		t.Fatalf("the template drops reasoning: %d", got)
	}
	ask := func(messages string) {
		t.Helper()
		body := `{"model":"sim","messages":[` + messages + `],"tools":[{"type":"function","function":{"name":"Look"}}]}`
		if status, answer := r.post(chatPath, body, "x-dyn-session-id", "s"); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
	}
	figures := func() (context, lasting int) {
		a, _ := r.agent("s", "main")
		g := a.Figures()
		return g.Context, g.Lasting
	}
	const first = `{"role":"user","content":"look at it"}`
	const call = first + `,{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"Look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"what was seen"}`
	ask(first)
	if context, lasting := figures(); lasting != context {
		t.Errorf("in the open loop %d of %d tokens last", lasting, context)
	}
	ask(call)
	context, lasting := figures()
	if lasting >= context-20 || lasting <= 0 {
		t.Errorf("when the loop is closed %d of %d tokens last", lasting, context)
	}
	if _, hot := r.wanted(); hot != lasting {
		t.Errorf("%d tokens are hot, %d last", hot, lasting)
	}
	if a := r.shown("s", "main"); a.Gone != context-lasting {
		t.Errorf("%d tokens of nobody are shown, %d of %d last", a.Gone, lasting, context)
	}
	ask(call + `,{"role":"assistant","content":"So it is."},{"role":"user","content":"and now?"}`)
	var b diff.Break
	last := r.rows(3)[2]
	if err := json.Unmarshal([]byte(last.Break), &b); err != nil || b.Token < lasting || b.Token > lasting+8 {
		t.Errorf("the next prompt parts at %d (%v), %d were to last", b.Token, err, lasting)
	}
}

// TestForkTakesOver: of a client that names no session the line that another
// one took over is over; it goes on when it is taken up again.
func TestForkTakesOver(t *testing.T) {
	for _, d := range apis {
		r := newRig(t, 1, brainFile(t, livesBrain))
		list := "messages"
		if d.path == "/v1/responses" {
			list = "input"
		}
		ask := func(texts ...string) {
			t.Helper()
			var ms []string
			for i, text := range texts {
				ms = append(ms, `{"role":"`+[]string{"user", "assistant"}[i%2]+`","content":`+quote(text)+`}`)
			}
			if status, answer := r.post(d.path, `{"model":"sim","max_tokens":500,"`+list+`":[`+strings.Join(ms, ",")+`]}`); status != 200 {
				t.Fatalf("%s: %d %s", d.name, status, answer)
			}
		}
		ask("hello there " + words(40))
		ask("hello there "+words(40), "So it is.", "and then?")
		ask("hello there "+words(40), "So it is.", "or else?")
		events := r.events(1)
		if e := events[0]; e.Event != "agent done" || e.Detail != "a fork took its prompt over" || e.Source != bySeen {
			t.Errorf("%s: %+v", d.name, e)
		}
		ask("hello there "+words(40), "So it is.", "and then?", "So it is.", "go on")
		r.rows(4)
		if _, hot := r.wanted(); hot == 0 {
			t.Errorf("%s: nothing is hot", d.name)
		}
	}
}
