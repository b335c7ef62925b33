package tape

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTextOfAnyLength compares texts with as many escapes, anywhere, as a
// decoder of strings finds them.
func TestTextOfAnyLength(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "bcd", "plain text of a line", `\n`, `\\`, `\"`, `\/`, `\u00e9`, `\ud83d\ude00`, `\ud800`, "é", "😀", `\u0000`,
		}), 0, 30).Draw(rt, "parts")
		quoted := `"` + strings.Join(parts, "") + `"`
		doc, err := Parse([]byte(quoted))
		if err != nil {
			rt.Fatal(err)
		}
		defer doc.Free()
		var want string
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			rt.Fatal(err)
		}
		if got := doc.Root().Text(); got != want {
			rt.Fatalf("%s: got %q, want %q", quoted, got, want)
		}
	})
}

// TestParseKnown skips what is said to be known of a document, and reads the
// rest as if nothing had been.
func TestParseKnown(t *testing.T) {
	const src = `{"a":[1,{"b":2},{"c":3}],"t":["x"],"z":"\u0041"}`
	skips := map[string]Skip{
		"a": {Bytes: len(`[1,{"b":2}`), Nodes: 4, Elements: 2},
		"t": {Bytes: len(`["x"]`), Nodes: 1},
	}
	var asked []string
	doc, err := ParseKnown([]byte(src), func(name, rest []byte) Skip {
		key := string(name)
		asked = append(asked, key)
		if !strings.HasPrefix(src[strings.Index(src, `"`+key+`":`)+4:], string(rest[:3])) {
			t.Errorf("%s: rest is %s", key, rest)
		}
		return skips[key]
	})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Free()
	root := doc.Root()
	if strings.Join(asked, "") != "atz" {
		t.Errorf("asked for %q", asked)
	}
	n := 0
	for _, v := range root.Key("a").Elements() {
		n++
		if string(v.Raw()) != `{"c":3}` || v.Nodes() != 3 || src[v.Start():v.End()] != `{"c":3}` {
			t.Errorf("got %s, %d nodes", v.Raw(), v.Nodes())
		}
	}
	if whole := root.Key("t"); n != 1 || string(whole.Raw()) != `["x"]` || whole.Skipped().Bytes != 5 || root.Key("z").Text() != "A" || root.Key("z").Skipped() != (Skip{}) {
		t.Errorf("%d elements; t is %s", n, whole.Raw())
	}
	if got := root.Key("a"); got.Skipped().Elements != 2 || string(got.Raw()) != `[1,{"b":2},{"c":3}]` {
		t.Errorf("a is %s", got.Raw())
	}
}

// TestParseKnownChecks: what is not known is checked as always.
func TestParseKnownChecks(t *testing.T) {
	for _, src := range []string{
		`{"a":[1,2` + "\xff" + `]}`, "{\"a\":[1,\"\xff\"]}", `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[1`, `{"a":[1],}`, "{\"\xff\":1,\"a\":[1]}",
	} {
		doc, err := ParseKnown([]byte(src), func(key, _ []byte) Skip {
			if string(key) == "a" {
				return Skip{Bytes: 2, Nodes: 1, Elements: 1}
			}
			return Skip{}
		})
		if err == nil {
			doc.Free()
			t.Errorf("%q passed", src)
		}
	}
}
