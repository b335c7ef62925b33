package bpe_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
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
		if data, err = os.ReadFile(filepath.Join(fixtures(t), name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

var qwen struct {
	once sync.Once
	t    *bpe.Tokenizer
}

// qwen3 reads Qwen3's tokenizer once for all tests.
func qwen3(t testing.TB) *bpe.Tokenizer {
	t.Helper()
	data := unpacked(t, "qwen3/tokenizer.json.gz")
	qwen.once.Do(func() { qwen.t, _ = bpe.Read(data) })
	if qwen.t == nil {
		t.Fatal("qwen3/tokenizer.json does not load")
	}
	return qwen.t
}

type sample struct {
	Kind string `json:"k"`
	Text string `json:"t"`
}

// TestReferenceIDs compares with the ids that the reference implementation
// gave. One text may differ: it has a mark that Unicode got after the
// reference's tables were made.
func TestReferenceIDs(t *testing.T) {
	texts := decoded[[]sample](t, "texts.json")
	for _, c := range []struct {
		model   string
		differs int
	}{{"qwen3", 1}, {"llama3", 0}, {"gptoss", 0}, {"deepseek_v3", 0}} {
		t.Run(c.model, func(t *testing.T) {
			tok := model(t, c.model)
			want := decoded[[][]uint32](t, "ids-"+c.model+".json")
			var differ []string
			for i, s := range texts {
				got := tok.Encode(nil, s.Text)
				if !slices.Equal(got, want[i]) {
					differ = append(differ, s.Kind)
					t.Logf("text %d (%s): %s", i, s.Kind, firstDifference(tok, got, want[i]))
				}
			}
			if len(differ) > c.differs {
				t.Errorf("%d of %d texts differ: %v", len(differ), len(texts), differ)
			}
			text := string(unpacked(t, "big.txt.gz"))
			big := decoded[[]uint32](t, "ids-big-"+c.model+".json.gz")
			if got := tok.Encode(nil, text); !slices.Equal(got, big) {
				t.Errorf("big text: %s", firstDifference(tok, got, big))
			}
		})
	}
}

// model reads a tokenizer of the fixtures.
func model(t testing.TB, name string) *bpe.Tokenizer {
	t.Helper()
	if name == "qwen3" {
		return qwen3(t)
	}
	tok, err := bpe.Read(unpacked(t, name+"/tokenizer.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return tok
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

// TestHeap: what a real file of 11 MB leaves behind is bounded.
func TestHeap(t *testing.T) {
	data := unpacked(t, "qwen3/tokenizer.json.gz")
	before := heap()
	tok, err := bpe.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	const most = 30 << 20
	if got := heap() - before; got > most {
		t.Errorf("the tokenizer keeps %d KiB, want %d at most", got>>10, most>>10)
	}
	runtime.KeepAlive(data)
	runtime.KeepAlive(tok)
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkLoad(b *testing.B) {
	data := unpacked(b, "qwen3/tokenizer.json.gz")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bpe.Read(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tok := qwen3(b)
	text := string(unpacked(b, "big.txt.gz"))
	var ids []uint32
	b.ReportAllocs()
	for b.Loop() {
		ids = tok.Encode(ids[:0], text)
	}
	b.ReportMetric(float64(len(ids)*b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
}
