package parsers

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updatePage = flag.Bool("update", false, "write the tables of docs/parsers.md anew")

const page = "../docs/parsers.md"

// rate is how many turns of a family are read right.
type rate struct{ whole, streamed, all int }

// rates reads every turn of the round-trip corpus, in one piece and in all the
// splits of the fixture tests, by family.
func rates(t *testing.T) map[string]rate {
	t.Helper()
	got := map[string]rate{}
	for _, list := range records(t, "roundtrip.jsonl") {
		for _, r := range list {
			family, _, _ := strings.Cut(r.ID, "/")
			n := got[family]
			n.all++
			a := read(t, r.options(), false, r.Text)
			if check(a, r.Expect) == nil {
				n.whole++
				if streamed(t, r, a) {
					n.streamed++
				}
			}
			got[family] = n
		}
	}
	return got
}

// streamed reports whether pieces give what the whole gives: tokens, single
// characters, single bytes.
func streamed(t *testing.T, r record, whole answer) bool {
	for _, p := range [][]string{tokens(r.Text), strings.Split(r.Text, ""), perByte(r.Text)} {
		if !same(read(t, r.options(), false, p...), whole) {
			return false
		}
	}
	return true
}

// TestPage holds the table of docs/parsers.md against what is read now, beside
// what the published parsers do. None of them may be better at any family.
func TestPage(t *testing.T) {
	got := rates(t)
	data, err := os.ReadFile(filepath.Join("testdata", "published.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var families []string
	published := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
			published[cells[0]] = cells[1:]
		}
	}
	for f := range got {
		families = append(families, f)
	}
	slices.Sort(families)
	var b strings.Builder
	b.WriteString("| family | dyn | vLLM | SGLang | dynamo | smg | openai-harmony |\n|---|---|---|---|---|---|---|\n")
	var all rate
	for _, f := range families {
		n := got[f]
		all.whole, all.streamed, all.all = all.whole+n.whole, all.streamed+n.streamed, all.all+n.all
		if n.whole < n.all || n.streamed < n.all {
			t.Errorf("%s: %d whole and %d streamed of %d", f, n.whole, n.streamed, n.all)
		}
		cells := published[f]
		if cells == nil {
			cells = []string{"-", "-", "-", "-", "-"}
		}
		fmt.Fprintf(&b, "| %s | %d / %d of %d | %s |\n", f, n.whole, n.streamed, n.all, strings.ReplaceAll(strings.Join(shown(cells), " | "), "-", "–"))
	}
	fmt.Fprintf(&b, "| **all** | **%d / %d of %d** | 1216 / 1060 of 1292 | 1003 / 941 of 1116 | 742 / 738 of 874 | 772 / 621 of 871 | 24 / 24 of 24 |\n", all.whole, all.streamed, all.all)
	if os.Getenv("DYN_FIXTURES") != "" && !*updatePage {
		return // other data than the page's
	}
	between(t, "rates", b.String())
}

// shown are cells as the page has them: a/b of n.
func shown(cells []string) []string {
	out := slices.Clone(cells)
	for i, c := range out {
		if p := strings.Split(strings.Trim(c, "()"), "/"); len(p) == 3 {
			out[i] = p[0] + " / " + p[1] + " of " + p[2]
			if strings.HasPrefix(c, "(") {
				out[i] = "(" + out[i] + ")"
			}
		}
	}
	return out
}

// between compares a part of the page with what it has to be, or writes it.
func between(t *testing.T, name, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	before, rest, ok1 := strings.Cut(string(text), begin)
	was, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no part %q", page, name)
	}
	want = "\n" + want + "\n"
	if was == want {
		return
	}
	if !*updatePage {
		t.Fatalf("the part %s of %s is not as it is measured; run the test with -update", name, page)
	}
	if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
