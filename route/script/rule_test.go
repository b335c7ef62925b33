package script

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/route"
)

// fallback is the default rule.
func fallback(t testing.TB) route.Strategy {
	t.Helper()
	s, err := route.New("")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// load makes a rule of a text; tests of what may be slow set limits.
func load(t testing.TB, src string) *Rule {
	t.Helper()
	r, err := Load("my.star", []byte(src), Limits{Default.Steps, Default.Size, time.Hour}, fallback(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// three are workers of which the default rule takes c.
var three = []route.Candidate{
	{Worker: "b", InFlight: 3, Decoding: 3, Overlap: 100, Kind: route.Both},
	{Worker: "a", InFlight: 2, Decoding: 1, Pending: 50, Backlog: 5},
	{Worker: "c"},
	{Worker: "d", Out: "draining"},
}

func TestPick(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      string
		why       route.Reason
	}{
		{"a name", "def pick(need, workers): return workers[0].name", "a", route.ByFile},
		{"a worker", "def pick(need, workers): return max(workers, key=lambda w: w.overlap)", "b", route.ByFile},
		{"costs", "def pick(need, workers): return {w.name: -w.in_flight for w in workers}", "b", route.Cheapest},
		{"costs by worker", "def pick(need, workers): return {w: w.new for w in workers}", "b", route.Cheapest},
		{"some have none", "def pick(need, workers): return {'a': 5, 'b': 7.5}", "a", route.Cheapest},
		{"no opinion", "def pick(need, workers): pass", "c", route.Cheapest},
		{"the turn", "def pick(need, workers): return need.home if need.prompt == 1000 and need.session == 's' else 'b'", "a", route.ByFile},
		{"helpers and constants", `
WEIGHTS = {"new": 1.0, "in_flight": 500}
def cost(w):
    return WEIGHTS["new"] * w.new + WEIGHTS["in_flight"] * w.in_flight

def pick(need, workers):
    best, least = None, 1e18
    for w in workers:
        c = cost(w)
        if c < least:
            best, least = w, c
    return best
`, "c", route.ByFile},
		{"what changes in place", `
def pick(need, workers):
    seen, names, n = {}, [], 0
    for w in workers:
        seen[w.name] = 1
        seen[w.name] += w.in_flight
        n += 1
        names.append(w.name)
    names.extend(["x"])
    if n != 3 or seen.get("a") != 3 or sorted(names)[-1] != "x" or "zz" in seen or len(names[:2]) != 2:
        fail("wrong")
    a, (b, c) = 1, (2, 3)
    return [w for w in workers if w.name.startswith("b") and a + b + c == 6 and math.sqrt(4.0) == 2][0]
`, "b", route.ByFile},
		{"lots", "def pick(need, workers): return sorted(workers, key=lambda w: (w.lot, w.name))[0]", "", route.ByFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := route.Need{Turn: "t1", Prompt: 1000, Session: "s", Home: "a"}
			d := load(t, c.src).Pick(n, three)
			if (d.Worker != c.want && c.want != "") || d.Reason != c.why || d.Warning != "" {
				t.Fatalf("got %q, %q, warning %q", d.Worker, d.Reason, d.Warning)
			}
			if len(d.Parts) != 4 || d.Parts[3].Out != "draining" {
				t.Fatalf("%+v", d.Parts)
			}
		})
	}
}

// TestFields reads every field there is.
func TestFields(t *testing.T) {
	src := "def pick(need, workers):\n    w = workers[0]\n    all = ["
	for f := range turnFields {
		src += "need." + f + ", "
	}
	for f := range workerFields {
		src += "w." + f + ", "
	}
	src += "]\n    return {w.name: len(all) + 0.0 * w.wanted * w.backlog_ms * w.off}"
	src = strings.Replace(src, " * w.off", "", 1)
	cs := []route.Candidate{{Worker: "a", Wanted: math.NaN(), Backlog: math.Inf(1)}}
	d := load(t, src).Pick(route.Need{Prompt: 5}, cs)
	if want := float64(len(turnFields) + len(workerFields)); d.Warning != "" || d.Parts[0].Cost != want {
		t.Fatalf("%+v", d)
	}
}

// What goes wrong is told with its line, and the default rule decides.
func TestWrong(t *testing.T) {
	for _, c := range []struct{ name, src, warns string }{
		{"an exception", "def pick(need, workers):\n    return 1 // 0", "my.star:2: floored division by zero"},
		{"fail", "def pick(need, workers):\n    x = 1\n    fail('no')", "my.star:3: fail: no"},
		{"an index", "def pick(need, workers): return workers[99]", "my.star:1: list index 99 out of range [-3:2]"},
		{"a key", "def pick(need, workers): return {}['x']", `my.star:1: key "x" not in dict`},
		{"types", "def pick(need, workers): return need.prompt + 'x'", "my.star:1: unknown binary op: int + string"},
		{"a number", "def pick(need, workers): return 7", "pick answers 7, which is none of the workers that it was given"},
		{"a list", "def pick(need, workers): return [workers[0]]", "pick answers a list, which is none"},
		{"nobody", "def pick(need, workers): return 'nobody'", `pick answers "nobody", which is none`},
		{"one that is out", "def pick(need, workers): return 'd'", `pick answers "d", which is none`},
		{"no costs", "def pick(need, workers): return {}", "pick answers an empty dict"},
		{"a cost that is none", "def pick(need, workers): return {'a': 'cheap'}", `pick answers a cost of "cheap" for a`},
		{"no number", "def pick(need, workers): return {'a': float('nan')}", "pick answers a cost of nan for a"},
		{"endless", "def pick(need, workers): return {'a': float('inf')}", "pick answers a cost of +inf for a"},
		{"a cost of nobody", "def pick(need, workers): return {'a': 1, 'nobody': 0}", `pick answers "nobody"`},
		{"memory between decisions", "seen = []\ndef pick(need, workers):\n    seen.append(1)", "my.star:3: append: cannot append to frozen list"},
		{"a field of text", "def pick(need, workers): return need.session.prompt", "string has no .prompt field or method"},
		{"a method of a number", "def pick(need, workers): return need.prompt.append(1)", "my.star:1: int has no .append"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := load(t, c.src).Pick(route.Need{Prompt: 1000}, three)
			if d.Worker != "c" || d.Reason != route.Cheapest {
				t.Errorf("the default would not have taken %q, %q", d.Worker, d.Reason)
			}
			if !strings.Contains(d.Warning, c.warns) || !strings.HasSuffix(d.Warning, "; the default rule decided") {
				t.Errorf("warns: %s", d.Warning)
			}
		})
	}
}

// Where nobody may take the turn, no file is asked.
func TestNobody(t *testing.T) {
	r := load(t, "def pick(need, workers): fail('asked')")
	for why, cs := range map[route.Reason][]route.Candidate{
		route.NoWorkers: {{Worker: "d", Out: "draining"}},
		route.AllFull:   {{Worker: "e", InFlight: 1, Slots: 1}},
		route.TooLong:   {{Worker: "f", Context: 4}},
	} {
		if d := r.Pick(route.Need{Prompt: 10}, cs); d.Worker != "" || d.Reason != why || d.Warning != "" {
			t.Errorf("%s: %+v", why, d)
		}
	}
}

// What can be seen at once is said when the file is opened.
func TestLoad(t *testing.T) {
	const pick = "\ndef pick(need, workers): pass"
	for _, c := range []struct{ src, says string }{
		{"def pick(need, workers:", "my.star:1:24: got ':', want ')'"},
		{"x = 1", "has no function pick(need, workers)"},
		{"pick = 5", "has no function pick(need, workers)"},
		{"def pick(need): pass", "has no function pick(need, workers)"},
		{"load('x.star', 'y')" + pick, "this statement is not there"},
		{"def f():\n    while True: pass" + pick, "my.star:2:5: this statement is not there"},
		{"def pick(need, workers): print(1)", "my.star:1:26: print is not there"},
		{"def pick(need, workers): return getattr(need, 'home')", "getattr is not there"},
		{"def pick(need, workers): return workers[0].overlp", "there is no field or method overlp"},
		{"def pick(need, workers): return ','.join([])", "there is no field or method join"},
		{"def pick(need, workers): return '{}'.format(1)", "there is no field or method format"},
		{"def pick(need, workers):\n    f = [].append\n    f(1)", "the method append is there to be called only"},
		{"def pick(need, workers): return max(*workers)", "* in a call is not there"},
		{"def pick(need, workers): need.home = 'a'", "nothing can be assigned to this"},
		{"def pick(need, workers): workers[len(workers)] += 1", "works on a name, or an element"},
		{"def pick(need, workers): return {1 for w in workers}", ""},
		{"def pick(need, workers): return nothing", "undefined: nothing"},
		{"x = 1 // 0" + pick, "my.star:1: floored division by zero"},
		{"x = [i for i in range(10000000)]" + pick, "more than 100000 steps"},
		{strings.Repeat("#", mostSource+1), "a rule has up to 65536"},
		{strings.Repeat("(", mostSource-1), "my.star:"},
		{"x = " + strings.Repeat("-", 60_000) + "1" + pick, ""},
		{"x = " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000) + pick, ""},
		{"\x00\xff", "my.star:"},
	} {
		_, err := Load("my.star", []byte(c.src), Limits{Default.Steps, Default.Size, time.Hour}, fallback(t))
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%.60q: %v", c.src, err)
		}
	}
}

func TestNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.star")
	if err := os.WriteFile(path, []byte("def pick(need, workers): return 'b'"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{path: "b", "kv": "c", "": "c"} {
		s, err := New(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := s.Pick(route.Need{Prompt: 1000}, three); d.Worker != want {
			t.Errorf("%q: %s", text, d.Worker)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe.star") // nobody will ever write to it
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"nowhere.star", filepath.Dir(path) + "/.star", "kvv", pipe} {
		if _, err := New(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// The same turn, the same answer, and from many goroutines.
func TestTogether(t *testing.T) {
	r := load(t, "def pick(need, workers): return sorted(workers, key=lambda w: w.lot)[0]")
	type answer struct{ turn, worker string }
	answers := make(chan answer)
	for range 4 {
		go func() {
			for i := range 50 {
				n := route.Need{Turn: fmt.Sprint("t", i), Prompt: 1000}
				answers <- answer{n.Turn, r.Pick(n, three).Worker}
			}
		}()
	}
	seen, workers := map[string]string{}, map[string]bool{}
	for range 200 {
		a := <-answers
		if before, ok := seen[a.turn]; ok && before != a.worker {
			t.Errorf("%s went to %s and %s", a.turn, before, a.worker)
		}
		seen[a.turn], workers[a.worker] = a.worker, true
	}
	if len(workers) != 3 {
		t.Errorf("lots fell on %v", workers)
	}
}

func BenchmarkPick(b *testing.B) {
	r := load(b, `
def pick(need, workers):
    costs = {}
    for w in workers:
        costs[w.name] = (w.pending + w.new) * (w.in_flight + 1)
    return costs
`)
	cs := make([]route.Candidate, 8)
	for i := range cs {
		cs[i] = route.Candidate{Worker: fmt.Sprint("w", i), Overlap: i * 100, InFlight: i}
	}
	n := route.Need{Turn: "t0123456789abcdef", Prompt: 5_000}
	b.ReportAllocs()
	for b.Loop() {
		r.Pick(n, cs)
	}
}
