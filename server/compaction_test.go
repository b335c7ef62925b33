package server

import (
	"fmt"
	"strings"
	"testing"
)

// summaryBrain calls a tool, and where it is asked for a summary writes what
// looks like a call.
const summaryBrain = `
  - when: 'sum it up<\|im_end\|>'
    say: |-
      It was read. <tool_call>
      {"name": "Read", "arguments": {}}
      </tool_call>
  - when: 'read the file'
    say: All of it is words.
`

// TestCompactionWithoutTools plays how Codex asks for a summary: its history,
// no tools. The prompt is rendered with the tools that the session had, so it
// is cached but for the question, also after a restart; its answer is text,
// calls and all. Where the tools do not fit they are left out.
func TestCompactionWithoutTools(t *testing.T) {
	const headers = `{"session_id":"s","thread_id":"s","request_kind":%q}`
	ask := func(r *rig, kind, tools, items string) string {
		r.t.Helper()
		body := `{"model":"sim","instructions":` + quote("You are terse. "+words(300)) + `,"input":[` + items + `],"tools":` + tools + `}`
		status, answer := r.post("/v1/responses", body, "session-id", "s", "thread-id", "s", "x-codex-turn-metadata", fmt.Sprintf(headers, kind))
		if status != 200 {
			r.t.Fatalf("%s: %d %s", kind, status, answer)
		}
		return answer
	}
	const question = `{"role":"user","content":"read the file"}`
	const history = question + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"All of it is words."}]},{"role":"user","content":"sum it up"}`
	tools := `[{"type":"function","name":"Read","description":` + quote(words(300)) + `,"parameters":{"type":"object"}}]`

	r := newRig(t, 1, brainFile(t, summaryBrain))
	ask(r, "turn", tools, question)
	r.rows(1)
	answer := ask(r, "compaction", "[]", history)
	if text := str(dig(doc(t, answer), "output", 0, "content", 0, "text")); !strings.Contains(text, "<tool_call>") || strings.Contains(answer, `"function_call"`) {
		t.Errorf("the summary is %s", answer)
	}
	rows := r.rows(2)
	if rows[1].Kind != "compaction" {
		t.Fatalf("its kind is %q", rows[1].Kind)
	}
	if again, fresh := rows[1].Prompt-rows[1].Cached, rows[1].Prompt-rows[0].Prompt-rows[0].Output; again > fresh+2*16 {
		t.Errorf("computed %d of %d again, new are %d", again, rows[1].Prompt, fresh)
	}

	// The same in a daemon that was started anew in between.
	late := newRig(t, 1, brainFile(t, summaryBrain))
	ask(late, "turn", tools, question)
	ask(late, "turn", tools, question)
	late.rows(2)
	late = late.again()
	ask(late, "compaction", "[]", history)
	if got := late.rows(3)[2]; got.Prompt != rows[1].Prompt || got.Cached < rows[1].Cached {
		t.Errorf("after a restart the prompt has %d tokens, %d of them cached; want %d and %d", got.Prompt, got.Cached, rows[1].Prompt, rows[1].Cached)
	}

	small := newRig(t, 1, brainFile(t, summaryBrain), fmt.Sprint("--max-model-len=", rows[1].Prompt+100))
	ask(small, "turn", tools, question)
	small.rows(1)
	ask(small, "compaction", "[]", history)
	if got := small.rows(2)[1].Prompt; got >= rows[0].Prompt {
		t.Errorf("with no room for the tools the prompt has %d tokens, %d with them", got, rows[1].Prompt)
	}
}
