package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "w0.log")
	f, from, err := openLog(path)
	if err != nil || from != 0 {
		t.Fatal(from, err)
	}
	defer f.Close()
	f.WriteString("one\r\n\ntwo \xff\nthree")
	again, from, err := openLog(path)
	if err != nil || from != 17 {
		t.Fatal(from, err)
	}
	defer again.Close()
	again.WriteString("\nfour\n")
	for _, c := range []struct {
		from int64
		n    int
		want []string
	}{
		{0, 9, []string{"one", "two \uFFFD", "three", "four"}},
		{0, 2, []string{"three", "four"}},
		{from, 9, []string{"four"}},
		{1 << 30, 9, []string{"one", "two \uFFFD", "three", "four"}}, // it was trimmed since
	} {
		if got := tail(path, c.from, c.n); !slices.Equal(got, c.want) {
			t.Errorf("from %d the last %d are %q, want %q", c.from, c.n, got, c.want)
		}
	}
	if got := tail(path+"x", 0, 5); got != nil {
		t.Errorf("a file that is not there has %q", got)
	}
}

func TestTrimLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w0.log")
	f, _, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Write(bytes.Repeat([]byte("a line of a log\n"), maxLog/16+1))
	if err := trimLog(path); err != nil {
		t.Fatal(err)
	}
	f.WriteString("next\n") // the child writes on
	if got := tail(path, 0, 5); !slices.Equal(got, []string{"next"}) {
		t.Errorf("after the trim: %q", got)
	}
	if old, err := os.Stat(path + ".1"); err != nil || old.Size() < maxLog {
		t.Errorf("the old part is not kept: %v", err)
	}
}

func TestBlame(t *testing.T) {
	noise := strings.Split("a,b,c,d,e,f,g", ",")
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"short", []string{"x", "y"}, "x y"},
		{"no cause", noise, "e f g"},
		{"cause far up", append([]string{"ValueError: bad"}, noise...), "ValueError: bad f g"},
		{"cause among the last", append(slices.Clone(noise), "KeyError: 'x'"), "f g KeyError: 'x'"},
		{
			"who noticed is no cause",
			append([]string{"ValueError: bad"}, "a", "b", "RuntimeError: Engine core initialization failed. See root cause above.", "c"),
			"ValueError: bad RuntimeError: Engine core initialization failed. See root cause above. c",
		},
	} {
		if got := strings.Join(blame(c.lines, 3), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What a real server printed when it could not start.
func TestBlameRecorded(t *testing.T) {
	root := os.Getenv("DYN_FIXTURES")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "fixtures")
	}
	path := filepath.Join(root, "engines", "vllm", "log-start-failure.txt")
	lines := tail(path, 0, 200)
	if lines == nil {
		t.Skip("no recording: set DYN_FIXTURES")
	}
	if got := strings.Join(blame(lines, 5), "\n"); !strings.Contains(got, "No common block size for 16") {
		t.Errorf("the cause is not in\n%s", got)
	}
}
