package bpe

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAgainstHF times Encode and Hugging Face's tokenizers in turn, in one
// run, and prints the table of docs/bpe.md. It wants a Python with that
// package:
//
//	DYN_HF=/path/to/python go test ./prompt/bpe -run TestAgainstHF -v -timeout 1h
func TestAgainstHF(t *testing.T) {
	python := os.Getenv("DYN_HF")
	if python == "" {
		t.Skip("no Python with tokenizers: set DYN_HF")
	}
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "fixtures")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "tokenizers", "*", "tokenizer.json.gz"))
	if len(files) == 0 {
		t.Skipf("no tokenizers in %s: set DYN_FIXTURES", dir)
	}
	inputs := append(timedInputs(t, filepath.Join(dir, "tokenizers")), runs()...)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			data := gunzip(t, file)
			start := time.Now()
			tok, err := Read(data)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("read in %v", time.Since(start).Round(time.Millisecond))
			hf := startHF(t, python, data)
			forgetful, err := Read(data)
			if err != nil {
				t.Fatal(err)
			}
			forgetful.forgets = true
			compare(t, tok, forgetful, hf, inputs)
		})
	}
}

// input is a text to be timed.
type input struct{ class, text string }

// timedInputs are the large text and the texts, those of a class one after
// the other.
func timedInputs(t *testing.T, dir string) []input {
	all := []input{{"big", string(gunzip(t, filepath.Join(dir, "big.txt.gz")))}}
	data, err := os.ReadFile(filepath.Join(dir, "texts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []struct{ K, T string }
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	for i, x := range texts {
		if x.T != "" {
			all = append(all, input{fmt.Sprintf("%s %d", x.K, i), x.T})
		}
	}
	return all
}

// row is what one text took: the best time of each side, in seconds.
type row struct {
	input
	ours, kept, theirs float64 // kept: with pieces remembered
	ids                int
}

// speed is ours without memory, in MB/s.
func (r row) speed() float64 { return float64(len(r.text)) / r.ours / 1e6 }

// run says whether the text is made up to be slow.
func (r row) run() bool { return strings.HasPrefix(r.class, "run ") }

// compare times both sides and prints what came out.
func compare(t *testing.T, tok, forgetful *Tokenizer, hf *hfProcess, inputs []input) {
	only := os.Getenv("DYN_HF_ONLY") // a class
	byClass := map[string]*row{}
	var classes []string
	var rows []row
	for _, in := range inputs {
		class, _, _ := strings.Cut(in.class, " ")
		if only != "" && class != only {
			continue
		}
		r := measure(t, tok, forgetful, hf, in)
		rows = append(rows, r)
		if byClass[class] == nil {
			byClass[class] = new(row)
			classes = append(classes, class)
		}
		sum := byClass[class]
		sum.text, sum.ids = sum.text+r.text, sum.ids+r.ids
		sum.ours, sum.kept, sum.theirs = sum.ours+r.ours, sum.kept+r.kept, sum.theirs+r.theirs
	}
	t.Log("| text | bytes | HF, M ids/s | ours | ratio | ours, pieces remembered | ratio |")
	for _, class := range classes {
		r, n := byClass[class], float64(byClass[class].ids)/1e6
		t.Logf("| %s | %d | %.2f | %.1f | %.1f | %.1f | %.1f |", class, len(r.text), n/r.theirs, n/r.ours, r.theirs/r.ours, n/r.kept, r.theirs/r.kept)
	}
	slowest(t, rows)
}

// slowest prints which inputs take the longest for a byte: the share of the
// median speed of the texts that they reach.
func slowest(t *testing.T, rows []row) {
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.speed(), b.speed()) })
	texts := slices.DeleteFunc(slices.Clone(rows), row.run)
	if len(texts) == 0 {
		return
	}
	median := texts[len(texts)/2].speed()
	t.Logf("median of the texts: %.0f MB/s", median)
	for i, r := range rows {
		if i < 3 || r.run() {
			t.Logf("%s, %d bytes: %.2f", r.class, len(r.text), r.speed()/median)
		}
	}
}

// measure times one text on both sides in turn.
func measure(t *testing.T, tok, forgetful *Tokenizer, hf *hfProcess, in input) row {
	r := row{in, math.Inf(1), math.Inf(1), math.Inf(1), 0}
	rounds := 2
	if in.class == "big" {
		rounds = 7
	}
	for range rounds {
		best, ids := hf.time(t, in.text)
		r.theirs, r.ids = min(r.theirs, best), len(ids)
		r.ours = min(r.ours, timed(forgetful, in.text))
		r.kept = min(r.kept, timed(tok, in.text))
		if got := tok.Encode(nil, in.text); !slices.Equal(got, ids) {
			t.Logf("%s: other ids", in.class)
		}
	}
	return r
}

// timed is the best time of one Encode, in seconds.
func timed(tok *Tokenizer, text string) float64 {
	n := 1 + 5_000/len(text)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ids := tok.Encode(nil, text)
	best := math.Inf(1)
	for spent := time.Duration(0); spent < 10*time.Millisecond; {
		start := cpu()
		for range n {
			ids = tok.Encode(ids[:0], text)
		}
		took := cpu() - start
		best = min(best, took.Seconds()/float64(n))
		spent += took
	}
	return best
}

// hfProcess is a Python that times the other side.
type hfProcess struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startHF starts one for a tokenizer.json.
func startHF(t *testing.T, python string, data []byte) *hfProcess {
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/hf.py", file)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &hfProcess{in, bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	var hello struct{ Version string }
	p.read(t, &hello)
	t.Logf("Hugging Face tokenizers %s", hello.Version)
	return p
}

// time returns the best time of one encode there, in seconds, and the ids.
func (p *hfProcess) time(t *testing.T, text string) (best float64, ids []uint32) {
	line, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Best float64
		IDs  []uint32
	}
	p.read(t, &answer)
	return answer.Best, answer.IDs
}

func (p *hfProcess) read(t *testing.T, into any) {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, into); err != nil {
		t.Fatal(err)
	}
}

func gunzip(t testing.TB, name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// cpu is the time that this thread has worked. What other processes do to the
// machine counts less in it than in the time of day.
func cpu() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}
