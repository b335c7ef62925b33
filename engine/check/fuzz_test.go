package check

import (
	"encoding/binary"
	"testing"
	"unicode"

	"github.com/agentinfer/dyn/engine"
)

// FuzzAnswer checks that nothing that an engine shows breaks the check, and
// that what is told of it is short and moves no terminal.
func FuzzAnswer(f *testing.F) {
	m := folder(f, map[string]string{"chat_template.jinja": chatML})
	f.Add("<|im_start|>user\nName", []byte{})
	f.Add("", []byte{1, 0, 0, 0, 255, 255, 255, 255})
	f.Add("\x1b[2J\xff\xfe\n\n\n", make([]byte, 1<<16))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		r := engine.Rendered{Text: text}
		for ; len(raw) >= 4; raw = raw[4:] {
			r.IDs = append(r.IDs, binary.LittleEndian.Uint32(raw))
		}
		one := compare(t.Context(), told{rendered: r}, m, talks()[0])
		shown := Report{[]Finding{one}}.String()
		if len(shown) > 16<<10 {
			t.Errorf("%d bytes are shown", len(shown))
		}
		for _, c := range shown {
			if c != '\n' && !unicode.IsPrint(c) && c != unicode.ReplacementChar {
				t.Fatalf("%q in %q", c, shown)
			}
		}
	})
}
