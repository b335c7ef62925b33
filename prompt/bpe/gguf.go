package bpe

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// ggufVocabulary is what the metadata of a GGUF file say of its tokenizer.
type ggufVocabulary struct {
	model, pre     string
	tokens, merges []string
	scores         []float64
	kinds          []float64 // of token, see the kinds below
	spacePrefix    float64
	bos, eos       float64 // ids; below 0 where there is none
	addBOS, addEOS float64 // below 0 where the file does not say
}

// The kinds of token that are found in the text as they are, and the one that
// no text has.
const (
	kindUnknown = 2
	kindControl = 3
	kindUser    = 4
	kindUnused  = 5
)

// The types of a value in a GGUF file that are no number of bytes.
const (
	ggufString = 8
	ggufArray  = 9
)

// ggufSizes are the bytes of the other types.
var ggufSizes = map[uint32]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// longText is the longest string that is kept.
const longText = 1 << 20

// gguf reads the metadata of a GGUF file from front to back.
type gguf struct {
	r    *bufio.Reader
	left int // bytes that may still be read
	err  error
	buf  [8]byte
}

// readMetadata reads the part of a file before the tensors.
func readMetadata(r io.Reader) (v ggufVocabulary, err error) {
	g := &gguf{r: bufio.NewReaderSize(r, 1<<16), left: maxFile}
	v.spacePrefix, v.bos, v.eos, v.addBOS, v.addEOS = 1, -1, -1, -1, -1
	if err := g.begin(); err != nil {
		return v, err
	}
	for n := g.number(8); n > 0 && g.err == nil; n-- {
		key, kind := g.text(), uint32(g.number(4))
		switch key {
		case "tokenizer.ggml.model":
			v.model = g.textOf(kind)
		case "tokenizer.ggml.pre":
			v.pre = g.textOf(kind)
		case "tokenizer.ggml.tokens":
			v.tokens = g.texts(kind)
		case "tokenizer.ggml.merges":
			v.merges = g.texts(kind)
		case "tokenizer.ggml.scores":
			v.scores = g.numbers(kind)
		case "tokenizer.ggml.token_type":
			v.kinds = g.numbers(kind)
		case "tokenizer.ggml.bos_token_id":
			v.bos = g.value(kind)
		case "tokenizer.ggml.eos_token_id":
			v.eos = g.value(kind)
		case "tokenizer.ggml.add_bos_token":
			v.addBOS = g.value(kind)
		case "tokenizer.ggml.add_eos_token":
			v.addEOS = g.value(kind)
		case "tokenizer.ggml.add_space_prefix":
			v.spacePrefix = g.value(kind)
		default:
			g.skip(kind)
		}
	}
	return v, g.err
}

// fail keeps the first error; after it every read gives zeros.
func (g *gguf) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

// bytes reads n bytes.
func (g *gguf) bytes(n int) []byte {
	if n > min(longText, g.left) {
		g.fail("metadata: a string of %d bytes", n)
	}
	if g.err != nil {
		return nil
	}
	g.left -= n
	b := g.buf[:]
	if n > len(b) {
		b = make([]byte, n)
	}
	if _, err := io.ReadFull(g.r, b[:n]); err != nil {
		g.fail("metadata: %w", err)
		return nil
	}
	return b[:n]
}

// number reads an integer of n bytes.
func (g *gguf) number(n int) uint64 {
	var b [8]byte
	copy(b[:], g.bytes(n))
	return binary.LittleEndian.Uint64(b[:])
}

// count reads a length.
func (g *gguf) count() int { return int(min(g.number(8), math.MaxInt32)) }

// text reads a string.
func (g *gguf) text() string { return string(g.bytes(g.count())) }

// textOf reads a value that must be a string.
func (g *gguf) textOf(kind uint32) string {
	if kind != ggufString {
		g.fail("metadata: type %d where a string is due", kind)
	}
	return g.text()
}

// list reads the head of an array and returns the type of its elements.
func (g *gguf) list(kind uint32) (element uint32, n int) {
	if kind != ggufArray {
		g.fail("metadata: type %d where a list is due", kind)
	}
	element, n = uint32(g.number(4)), g.count()
	if n > maxID {
		g.fail("metadata: a list of %d", n)
	}
	return element, n
}

// texts reads an array of strings.
func (g *gguf) texts(kind uint32) (all []string) {
	element, n := g.list(kind)
	for ; n > 0 && g.err == nil; n-- {
		all = append(all, g.textOf(element))
	}
	return all
}

// numbers reads an array of numbers.
func (g *gguf) numbers(kind uint32) (all []float64) {
	element, n := g.list(kind)
	for ; n > 0 && g.err == nil; n-- {
		all = append(all, g.value(element))
	}
	return all
}

// value reads a number or a truth value.
func (g *gguf) value(kind uint32) float64 {
	size, ok := ggufSizes[kind]
	if !ok {
		g.fail("metadata: type %d where a number is due", kind)
	}
	switch n := g.number(size); kind {
	case 6:
		return float64(math.Float32frombits(uint32(n)))
	case 12:
		return math.Float64frombits(n)
	default:
		return float64(n)
	}
}

// skip moves over a value. Lists of lists are not known to be used.
func (g *gguf) skip(kind uint32) {
	n := 1
	if kind == ggufArray {
		kind, n = uint32(g.number(4)), g.count()
	}
	size, known := ggufSizes[kind]
	if !known && kind != ggufString {
		g.fail("metadata: a value of type %d", kind)
	}
	for ; n > 0 && g.err == nil; n-- {
		if kind == ggufString {
			size = g.count()
		}
		g.drop(size)
	}
}

// drop moves over n bytes.
func (g *gguf) drop(n int) {
	if g.left -= n; g.left < 0 {
		g.fail("metadata above the limit of %d MiB", maxFile>>20)
		return
	}
	if _, err := g.r.Discard(n); err != nil {
		g.fail("metadata: %w", err)
	}
}
