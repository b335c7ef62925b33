package template

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// native opens a folder without a template.
func native(t testing.TB, architecture string, more fstest.MapFS) *Template {
	t.Helper()
	fsys := fstest.MapFS{
		"config.json":           {Data: []byte(`{"architectures": ["` + architecture + `"]}`)},
		"tokenizer_config.json": {Data: []byte(special)},
	}
	for name, f := range more {
		fsys[name] = f
	}
	tmpl, err := Open(fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

// The forms of DeepSeek V3.2 and V4, piece by piece.
func TestOurs(t *testing.T) {
	const dsml = "｜DSML｜"
	tools := []turn.Tool{{Name: "f", Description: "d", Schema: []byte(`{"type": "object", "properties": {}}`)}}
	loop := []turn.Message{
		message(turn.System, "sys"), user("q"),
		says(think("hm"), turn.Block{Text: "t"}, call("1", "f", `{"s": "a\nb", "n": 1.50, "o": {"k": [true, null]}}`), call("2", "g", `{}`)),
		results(result("1", "x"), result("2", "y")),
	}
	calls := func(block string) string {
		return "\n\n<" + dsml + block + ">\n<" + dsml + "invoke name=\"f\">\n<" + dsml + "parameter name=\"s\" string=\"true\">a\nb</" + dsml +
			"parameter>\n<" + dsml + "parameter name=\"n\" string=\"false\">1.5</" + dsml + "parameter>\n<" + dsml +
			"parameter name=\"o\" string=\"false\">{\"k\": [true, null]}</" + dsml + "parameter>\n</" + dsml + "invoke>\n<" +
			dsml + "invoke name=\"g\">\n\n</" + dsml + "invoke>\n</" + dsml + block + "><｜end▁of▁sentence｜>"
	}
	more := append(loop[:4:4], says(think("ok"), turn.Block{Text: "done"}), user("next"))
	const v32, v4 = "DeepseekV32ForCausalLM", "DeepseekV4ForCausalLM"
	const results32 = "\n\n<function_results>\n<result>x</result>\n<result>y</result>\n</function_results>"
	const results4 = "<｜User｜><tool_result>x</tool_result>\n\n<tool_result>y</tool_result>"
	for _, c := range []struct {
		name, model, mode string
		tools             []turn.Tool
		messages          []turn.Message
		want              string // after the system part
	}{
		{"V3.2 asks", v32, "", nil, loop[:2], "<｜User｜>q<｜Assistant｜></think>"},
		{"V3.2 asks and thinks", v32, "on", nil, loop[:2], "<｜User｜>q<｜Assistant｜><think>"},
		{"V3.2 in a loop", v32, "off", tools, loop, "<｜User｜>q<｜Assistant｜></think>t" + calls("function_calls") + results32 + "\n\n</think>"},
		{"V3.2 thinks in a loop", v32, "on", tools, loop, "<｜User｜>q<｜Assistant｜><think>hm</think>t" + calls("function_calls") + results32 + "\n\n<think>"},
		{"V3.2 drops thoughts", v32, "on", tools, more, "<｜User｜>q<｜Assistant｜></think>t" + calls("function_calls") + results32 + "\n\n</think>done<｜end▁of▁sentence｜><｜User｜>next<｜Assistant｜><think>"},
		{"V4 asks", v4, "", nil, loop[:2], "<｜User｜>q<｜Assistant｜></think>"},
		{"V4 in a loop", v4, "off", tools, loop, "<｜User｜>q<｜Assistant｜></think>t" + calls("tool_calls") + results4 + "<｜Assistant｜></think>"},
		{"V4 thinks in a loop", v4, "on", tools, loop, "<｜User｜>q<｜Assistant｜><think>hm</think>t" + calls("tool_calls") + results4 + "<｜Assistant｜><think>"},
		{"V4 keeps thoughts with tools", v4, "on", tools, more, "<｜User｜>q<｜Assistant｜><think>hm</think>t" + calls("tool_calls") + results4 + "<｜Assistant｜><think>ok</think>done<｜end▁of▁sentence｜><｜User｜>next<｜Assistant｜><think>"},
		{"V4 drops thoughts without", v4, "on", nil, []turn.Message{loop[0], loop[1], more[4], more[5]}, "<｜User｜>q<｜Assistant｜></think>done<｜end▁of▁sentence｜><｜User｜>next<｜Assistant｜><think>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Page
			err := native(t, c.model, nil).Render(&p, &turn.Turn{Messages: c.messages, Tools: c.tools, Thinking: turn.Thinking{Mode: c.mode}})
			if err != nil {
				t.Fatal(err)
			}
			head, body, _ := strings.Cut(string(p.Text), "<｜User｜>")
			if got := "<｜User｜>" + body; got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if !strings.HasPrefix(head, "<s>sys") || strings.Contains(head, `"name": "f"`) != (c.tools != nil) {
				t.Errorf("system part %q", head)
			}
		})
	}
}

// V4's efforts are those of the release in the folder.
func TestOursEffort(t *testing.T) {
	folder := fstest.MapFS{"encoding/encoding_dsv4.py": {Data: []byte(`"max": "Reasoning Effort: Beyond maximum"`)}}
	for _, c := range []struct {
		more         fstest.MapFS
		effort, want string
	}{
		{nil, "high", "<s>"},
		{nil, "max", "<s>Reasoning Effort: Absolute maximum"},
		{folder, "low", "<s>"},
		{folder, "high", "<s>Reasoning Effort: Absolute maximum"},
		{folder, "max", "<s>Reasoning Effort: Beyond maximum"},
	} {
		var p Page
		tn := &turn.Turn{Messages: []turn.Message{user("q")}, Thinking: turn.Thinking{Mode: "on", Effort: c.effort}}
		if err := native(t, "DeepseekV4ForCausalLM", c.more).Render(&p, tn); err != nil {
			t.Fatal(err)
		}
		got, _, _ := strings.Cut(string(p.Text), "<｜User｜>")
		if !strings.HasPrefix(got, c.want) || c.want == "<s>" && got != "<s>" {
			t.Errorf("effort %s: %q, want %q", c.effort, got, c.want)
		}
	}
}

// alike takes out where the published encoders and the templates that people
// made after them are known to differ: the closed think block of V3.2 without
// thinking, the empty lines before the tools of a conversation without a
// system message and in a call without arguments.
var alike = strings.NewReplacer("<think></think>", "</think>", "<s>\n\n## Tools", "<s>## Tools", "\">\n\n</｜DSML｜invoke>", "\">\n</｜DSML｜invoke>")

// Our templates print what those of the fixtures print for the same models.
func TestOursAgree(t *testing.T) {
	list := scenarios(t)
	for name, text := range fixtures.Templates(t) {
		model := ""
		switch {
		case strings.Contains(name, "DeepSeek-V3.2"):
			model = "DeepseekV32ForCausalLM"
		case strings.Contains(name, "DeepSeek-V4"):
			model = "DeepseekV4ForCausalLM"
		default:
			continue
		}
		theirs, mine := opened(t, text, nil), native(t, model, nil)
		equal, near := 0, 0
		for _, s := range list {
			tn, why := s.turn()
			if why != "" || s.Name == "bad_roles" || s.Name == "empty" || s.Name == "no_gen" {
				continue // where an answer stands last, or two questions in a row, the encoders have an order of their own
			}
			for _, mode := range []string{"", "on", "off"} {
				tn.Thinking.Mode = mode
				var a, b Page
				if err := theirs.Render(&a, tn); err != nil {
					t.Errorf("%s, %s: %v", name, s.Name, err)
				}
				if err := mine.Render(&b, tn); err != nil {
					t.Errorf("ours for %s, %s: %v", name, s.Name, err)
				}
				got, want := string(b.Text), string(a.Text)
				if got == want {
					equal++
					continue
				}
				near++
				if got, want = alike.Replace(got), alike.Replace(want); got != want {
					n := common([]byte(got), []byte(want))
					t.Errorf("%s, %s, thinking %q: after %q ours prints %.80q, theirs %.80q", name, s.Name, mode, got[max(0, n-40):n], got[n:], want[n:])
				}
			}
		}
		t.Logf("%s: %d equal, %d but for the known differences", name, equal, near)
	}
}
