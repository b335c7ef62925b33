package bpe_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/prompt/bpe"
)

// fixtures returns the folder of shared reference data, or skips the test.
func fixtures(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "fixtures")
	}
	dir = filepath.Join(dir, "tokenizers")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no reference tokenizers: set DYN_FIXTURES (%v)", err)
	}
	return dir
}

// unpacked reads a gzip file of the fixtures.
func unpacked(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(fixtures(t), name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no %s among the reference tokenizers", name)
	}
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

// decoded reads a JSON file of the fixtures, packed or not.
func decoded[T any](t testing.TB, name string) (v T) {
	t.Helper()
	var data []byte
	if strings.HasSuffix(name, ".gz") {
		data = unpacked(t, name)
	} else {
		var err error
		data, err = os.ReadFile(filepath.Join(fixtures(t), name))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("no %s among the reference tokenizers", name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// loaded keeps what tests have read: a file takes its time.
var loaded struct {
	sync.Mutex
	tokens map[string]*bpe.Tokenizer
}

// model reads a tokenizer of the fixtures, once for all tests. A test of one
// that is absent is skipped.
func model(t testing.TB, name string) *bpe.Tokenizer {
	t.Helper()
	loaded.Lock()
	defer loaded.Unlock()
	if tok := loaded.tokens[name]; tok != nil {
		return tok
	}
	tok, err := bpe.Read(unpacked(t, name+"/tokenizer.json.gz"))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if loaded.tokens == nil {
		loaded.tokens = map[string]*bpe.Tokenizer{}
	}
	loaded.tokens[name] = tok
	return tok
}

// qwen3 is Qwen3's tokenizer.
func qwen3(t testing.TB) *bpe.Tokenizer {
	t.Helper()
	return model(t, "qwen3")
}

// models are the names of all tokenizers that the folder holds.
func models(t testing.TB) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures(t), "*", "tokenizer.json.gz"))
	if err != nil || len(files) == 0 {
		t.Skip("the folder holds no tokenizer")
	}
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names
}

type sample struct {
	Kind string `json:"k"`
	Text string `json:"t"`
}

// known is how many of the texts may differ, by tokenizer: one has a mark
// that Unicode got after the reference's tables for NFC were made.
var known = map[string]int{"qwen3": 1}

// TestReferenceIDs compares with the ids that the reference implementation
// gave, for every tokenizer of the folder.
func TestReferenceIDs(t *testing.T) {
	for _, name := range models(t) {
		t.Run(name, func(t *testing.T) {
			texts := decoded[[]sample](t, "texts.json")
			want := decoded[[][]uint32](t, "ids-"+name+".json")
			tok := model(t, name)
			var differ []string
			for i, s := range texts[:min(len(texts), len(want))] {
				got := tok.Encode(nil, s.Text)
				if !slices.Equal(got, want[i]) {
					differ = append(differ, s.Kind)
					t.Logf("text %d (%s): %s", i, s.Kind, firstDifference(tok, got, want[i]))
				}
			}
			if len(differ) > known[name] {
				t.Errorf("%d of %d texts differ: %v", len(differ), len(texts), differ)
			}
		})
	}
}

// TestReferenceBig does the same with one text of 400 KB.
func TestReferenceBig(t *testing.T) {
	for _, name := range models(t) {
		t.Run(name, func(t *testing.T) {
			want := decoded[[]uint32](t, "ids-big-"+name+".json.gz")
			text := string(unpacked(t, "big.txt.gz"))
			tok := model(t, name)
			if got := tok.Encode(nil, text); !slices.Equal(got, want) {
				t.Error(firstDifference(tok, got, want))
			}
		})
	}
}

// firstDifference tells where two lists of ids part.
func firstDifference(tok *bpe.Tokenizer, got, want []uint32) string {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	spell := func(ids []uint32) string {
		ids = ids[n:min(n+6, len(ids))]
		var b strings.Builder
		for _, id := range ids {
			b.WriteString("[" + tok.Token(id) + "]")
		}
		return b.String()
	}
	return "got " + spell(got) + ", want " + spell(want)
}

// TestHeap: what a real file leaves behind is bounded.
func TestHeap(t *testing.T) {
	for _, name := range models(t) {
		data := unpacked(t, name+"/tokenizer.json.gz")
		before := heap()
		tok, err := bpe.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		const most = 30 << 20
		got := heap() - before
		if got <= 0 || got > most {
			t.Errorf("%s keeps %d KiB, want %d at most, and something", name, got>>10, most>>10)
		}
		t.Logf("%s: %d KiB", name, got>>10)
		runtime.KeepAlive(data)
		runtime.KeepAlive(tok)
	}
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range models(b) {
		b.Run(name, func(b *testing.B) {
			data := unpacked(b, name+"/tokenizer.json.gz")
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bpe.Read(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range models(b) {
		b.Run(name, func(b *testing.B) {
			tok := model(b, name)
			text := string(unpacked(b, "big.txt.gz"))
			var ids []uint32
			b.ReportAllocs()
			for b.Loop() {
				ids = tok.Encode(ids[:0], text)
			}
			b.ReportMetric(float64(len(ids)*b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
		})
	}
}
