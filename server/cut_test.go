package server

import (
	"context"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestCutAnswers: an answer that reached its length is repeated in the next
// prompt as the model made it only where the client has all of it, which is
// when it broke off in text. Half a call, or open reasoning, is what the client
// made of it.
func TestCutAnswers(t *testing.T) {
	tok := simModel(t).Tokenizer()
	const half = "\xe4" // of a character; ids may spell it
	var halfID uint32
	for tok.Token(halfID) != half {
		halfID++
	}
	for _, c := range []struct {
		name, said string // the text that the ids spell
		copy       string // the client's, as the members of the message
		reason     turn.Reason
		kept       bool
	}{
		{"in text", "Let me   look", `"content":"Let me   look"`, turn.Cut, true},
		{"in text with half a character", "Let me " + half + "  look", `"content":"Let me \ufffd  look"`, turn.Cut, true},
		{"in a character", "Let me   look" + half, `"content":"Let me   look"`, turn.Cut, true},
		{"in a character that the client got", "Let me   look" + half, `"content":"Let me   look\ufffd"`, turn.Cut, true},
		{"before the name of a call", "Let me   look. <tool_call>\n{\"na", `"content":"Let me   look."`, turn.Cut, false},
		{"in the mark of a call", "Let me   look. <tool_", `"content":"Let me   look."`, turn.Cut, false},
		{"in arguments", "Let me   look. <tool_call>\n{\"name\": \"Read\", \"arguments\": {\"pa", `"content":"Let me   look.","tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{\"pa"}}]`, turn.Cut, false},
		{"in reasoning", "<think>\nI  think", `"content":"","reasoning_content":"I  think"`, turn.Cut, false},
		{"not at all", "Let me   look. ", `"content":"Let me   look."`, turn.Ended, true},
	} {
		var sent []uint32
		st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
			sent = j.Prompt.Flat()
			before, after, broken := strings.Cut(c.said, half)
			ids := tok.Encode(nil, before)
			if broken {
				ids = tok.Encode(append(ids, halfID), after)
			}
			text := strings.ToValidUTF8(c.said, "\uFFFD")
			if !strings.Contains(c.copy, "ufffd") {
				text = strings.ReplaceAll(c.said, half, "") // the engine waited for the rest
			}
			return &script{ctx, []turn.Delta{{Text: text, IDs: ids, End: &turn.End{
				Reason: c.reason, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: len(ids)},
			}}}}, nil
		}})
		const tools = `,"tools":[{"type":"function","function":{"name":"Read"}}]`
		if status, body := st.post(t.Context(), chatPath, says("hi", tools)); status != 200 {
			t.Fatalf("%s: %d %s", c.name, status, body)
		}
		first := sent
		history := `{"model":"sim"` + tools + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant",` + c.copy + `},{"role":"user","content":"go on"}]}`
		if status, body := st.post(t.Context(), chatPath, history); status != 200 {
			t.Fatalf("%s: %d %s", c.name, status, body)
		}
		all := string(tok.Decode(nil, sent))
		made := string(tok.Decode(nil, first)) + c.said
		if got := strings.HasPrefix(all, made) && !strings.HasPrefix(strings.TrimSpace(all[len(made):]), "</think>"); got != c.kept {
			t.Errorf("%s: the answer is as the model made it: %v, want %v, in %q", c.name, got, c.kept, all[max(0, len(all)-200):])
		}
	}
}
