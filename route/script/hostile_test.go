package script

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/route"
)

// mostMemory is what a decision may allocate, whatever its file tries.
const mostMemory = 64 << 20

// hostile are bodies of pick that want all there is of steps, time or memory.
var hostile = map[string]string{
	"an endless loop":          "for i in range(1000000000000): pass",
	"loops in loops":           "for i in range(1000):\n        for j in range(1000):\n            for k in range(1000): pass",
	"recursion":                "return pick(need, workers)",
	"recursion by another":     "return other(need, workers)",
	"recursion by a value":     "f = lambda f: f(f)\n    return f(f)",
	"a long list":              "return [0] * 1000000000",
	"the other way round":      "return 1000000000 * [0]",
	"a long text":              "return 'x' * 1000000000",
	"long bytes":               "return b'x' * 1000000000",
	"no times":                 "return len('x' * -1000000000) + len([0] * 1000000000)",
	"many times":               "return 'ab' * 9223372036854775807",
	"a list from a range":      "return list(range(1000000000))",
	"a tuple from a range":     "return tuple(range(1000000000))",
	"sorted":                   "return sorted(range(1000000000))",
	"the greatest of a range":  "return max(range(1000000000000))",
	"all of a range":           "return all(range(1, 1000000000000))",
	"any of a range":           "return any(range(0, 1000000000000)[:1]) and any(range(1000000000000))",
	"zip":                      "return zip(range(1000000000), range(1000000000))",
	"enumerate":                "return enumerate(range(1000000000))",
	"reversed":                 "return reversed(range(1000000000))",
	"is it in":                 "return 'x' in range(1000000000000)",
	"extend by a range":        "x = []\n    x.extend(range(1000000000))",
	"a list that doubles":      "x = [0]\n    for i in range(60): x += x",
	"a list that extends":      "x = [0]\n    for i in range(60): x.extend(x)",
	"a text that doubles":      "x = 'x'\n    for i in range(60): x += x",
	"a tuple that doubles":     "x = (0,)\n    for i in range(60): x = x + x",
	"a number that doubles":    "x = 3\n    for i in range(60): x = x * x",
	"a number that is shifted": "x = 1\n    for i in range(90000): x = x << 500",
	"a dict that doubles":      "x = {}\n    for i in range(1000000):\n        x[i] = str(i)",
	"lists of lists":           "x = []\n    for i in range(100000): x.append([0] * 1000)",
	"texts in lists":           "x, s = [], 'x' * 10000\n    for i in range(100000): x.append(s + str(i))",
	"equal trees":              "a, b = [], []\n    for i in range(9): a, b = [a] * 100, [b] * 100\n    return a == b",
	"trees in order":           "a, b = [0], [0]\n    for i in range(9): a, b = [a, a, a, a, a, a, a, a, a, a], [b, b, b, b, b, b, b, b, b, b]\n    return a < b",
	"is a tree in it":          "a, b = [], []\n    for i in range(9): a, b = [a] * 100, [b] * 100\n    return a in [b]",
	"where is the tree":        "a, b = [], []\n    for i in range(9): a, b = [a] * 100, [b] * 100\n    return [b].index(a)",
	"trees by key":             "a = []\n    for i in range(9): a = [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a]\n    b = []\n    for i in range(9): b = [b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b]\n    return sorted([1, 2], key=lambda x: a if x == 1 else b)",
	"a tuple in itself":        "x = ()\n    for i in range(60): x = (x, x)\n    return {x: 1}",
	"a key of tuples":          "x = ()\n    for i in range(30): x = (x, x)\n    return {}.get(x)",
	"the text of a tree":       "x = []\n    for i in range(60): x = [x, x]\n    return str(x)",
	"a failing tree":           "x = []\n    for i in range(60): x = [x, x]\n    fail(x)",
	"a tree as an answer":      "x = 'a'\n    for i in range(60): x = [x, x]\n    return x",
	"a list in itself":         "x = []\n    x.append(x)\n    return x == [x]",
	"a dict in itself":         "x = {}\n    x[1] = x\n    return x == {1: x}",
	"deep lists":               "x = []\n    for i in range(20000): x = [x]\n    return x == [x]",
	"text by %":                "return '%s%s' % ('x', [0])",
	"int of a long text":       "return int('9' * 100000)",
	"a split text":             "x = 'a ' * 100000\n    for i in range(100000): x.split(' ')",
	"slices":                   "x = [0] * 1000\n    for i in range(90000): x[:]",
	"frees and takes":          "for i in range(90000): [0] * 1000",
	"functions in functions":   "f = lambda: 0\n    for i in range(90000):\n        f = lambda g=f: g()\n    return f()",
	"pops":                     "x = list(range(1000))\n    for i in range(90000):\n        x.pop(0)\n        x.append(1)",
}

// TestHostile runs what wants too much. Each ends by the limits of steps and
// size, the clock having none; the default rule decides, and the memory that
// it took is bounded.
func TestHostile(t *testing.T) {
	for name, body := range hostile {
		t.Run(name, func(t *testing.T) {
			r := load(t, "def pick(need, workers):\n    "+body+"\n\ndef other(need, workers): return pick(need, workers)\n")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := r.Pick(route.Need{Prompt: 1000}, three)
			runtime.ReadMemStats(&after)
			if d.Worker != "c" {
				t.Errorf("the default would not have taken %q", d.Worker)
			}
			if d.Warning == "" && name != "frees and takes" && name != "functions in functions" {
				t.Error("no warning")
			}
			if len(d.Warning) > 400 {
				t.Errorf("a warning of %d bytes", len(d.Warning))
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > mostMemory {
				t.Errorf("took %d MiB", took>>20)
			}
		})
	}
}

// Top-level statements are bounded too, and what freezes them.
func TestHostileGlobals(t *testing.T) {
	for name, src := range map[string]string{
		"a loop":            "for i in range(1000000000): pass",
		"a list":            "x = [0] * 1000000000",
		"a tuple in itself": "x = ()\nfor i in range(60): x = (x, x)",
		"a tuple of two":    "x = ()\nfor i in range(60):\n    y = x\n    x = (y, y)",
		"a default":         "x = ()\nfor i in range(60): x = (x, x)\ndef f(y=x): pass",
	} {
		_, err := Load("my.star", []byte(src+"\ndef pick(need, workers): pass"), Limits{Default.Steps, Default.Size, time.Hour}, fallback(t))
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// The clock ends what the other limits would not.
func TestTimeLimit(t *testing.T) {
	r, err := Load("my.star", []byte("def pick(need, workers):\n    for i in range(1000000000000): pass"),
		Limits{Steps: math.MaxUint64, Size: math.MaxInt, Time: time.Hour}, fallback(t))
	if err != nil {
		t.Fatal(err)
	}
	r.limits.Time = time.Millisecond // of the decision: to load it may take what it wants
	d := r.Pick(route.Need{Prompt: 1000}, three)
	if d.Worker != "c" || !strings.Contains(d.Warning, "more than 1ms") {
		t.Fatalf("%s, %s", d.Worker, d.Warning)
	}
}

// FuzzRule loads and runs any text: it may fail, and no more.
func FuzzRule(f *testing.F) {
	for _, body := range hostile {
		f.Add("def pick(need, workers):\n    " + body + "\n")
	}
	f.Add("x = {'a': [1, 2.5, None, True]}\ndef pick(need, workers):\n    return {w: x['a'][0] * w.lot for w in workers if w.new not in x}\n")
	f.Fuzz(func(t *testing.T, src string) {
		small := Limits{Steps: 20_000, Size: 20_000, Time: time.Hour}
		r, err := Load("my.star", []byte(src), small, fallback(t))
		if err != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if d := r.Pick(route.Need{Prompt: 1000}, three); d.Worker == "" || d.Worker == "d" {
			t.Errorf("picked %q", d.Worker)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > mostMemory {
			t.Errorf("took %d MiB", took>>20)
		}
	})
}
