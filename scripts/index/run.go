package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentinfer/dyn/cache"
)

const (
	talk    = 2048 // blocks of a conversation
	workers = 64
	spoil   = 0x5555_0000_0000_0000 // makes another key of one
)

// trial is one case of the peer's program: 2^lg blocks, each held by so many
// workers, told in events of so many blocks.
type trial struct {
	out         *json.Encoder
	keys        []uint64
	x           *cache.Index
	hs          []cache.Holder
	holders, ev int
}

// try does a case, given as lg:holders:blocks of an event.
func try(w io.Writer, text string) error {
	t := trial{out: json.NewEncoder(w)}
	lg := 0
	if _, err := fmt.Sscanf(text, "%d:%d:%d", &lg, &t.holders, &t.ev); err != nil || lg < 11 || lg > 28 || t.holders < 1 || t.ev < 1 {
		return fmt.Errorf("case %q: want log2 of the blocks, holders and blocks of an event, like 22:1:2048", text)
	}
	r := rand.New(rand.NewPCG(1, 2))
	t.keys = make([]uint64, 1<<lg)
	for i := range t.keys {
		t.keys[i] = r.Uint64() | 1
	}
	before, err := resident()
	if err != nil {
		return err
	}
	t.x = cache.NewIndex(64, cache.Options{MaxBytes: 64 << 30})
	for i := range workers {
		h, err := t.x.Join(strconv.Itoa(i))
		if err != nil {
			return err
		}
		t.hs = append(t.hs, h)
	}
	if err := t.store(before); err != nil {
		return err
	}
	for _, what := range []string{"full hit 2048", "partial hit (cut uniform)", "miss at block 0", "hot chain 2048"} {
		if err := t.find(what); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) chain(i int) []uint64 { return t.keys[i*talk : (i+1)*talk] }

// store tells all conversations.
func (t *trial) store(before int64) error {
	began, used := time.Now(), cpu()
	for i := range len(t.keys) / talk {
		c := t.chain(i)
		for k := range t.holders {
			h := t.hs[(i+k*7)%workers]
			for from := 0; from < talk; from += t.ev {
				t.x.Stored(h, c[:min(from+t.ev, talk)], from, "")
			}
		}
	}
	took, used := time.Since(began), cpu()-used
	after, err := resident()
	if err != nil {
		return err
	}
	n := float64(len(t.keys))
	stored := n * float64(t.holders)
	return t.out.Encode(map[string]any{
		"index": "dyn", "blocks": len(t.keys), "holders": t.holders, "event_blocks": t.ev, "what": "store",
		"blocks_per_s": stored / took.Seconds(), "cpu_ns_per_block": float64(used) / stored,
		"bytes_per_unique_block": float64(after-before) / n, "told_bytes_per_unique_block": float64(t.x.Stats().Bytes) / n,
	})
}

// find asks for conversations in the peer's order.
func (t *trial) find(what string) error {
	chains := len(t.keys) / talk
	reps := min(2000, 4*chains)
	took := make([]time.Duration, 0, reps)
	matched := 0
	var dst []cache.Overlap
	q := make([]uint64, talk)
	for i := range reps {
		c := i * 2654435761 % chains
		if what == "hot chain 2048" {
			c = 5 % chains
		}
		copy(q, t.chain(c))
		switch what {
		case "partial hit (cut uniform)":
			for k := i * 911 % talk; k < talk; k++ {
				q[k] ^= spoil
			}
		case "miss at block 0":
			q[0] ^= spoil
		}
		began := time.Now()
		dst = t.x.Overlap(dst[:0], q)
		took = append(took, time.Since(began))
		best := 0
		for _, o := range dst {
			best = max(best, o.Blocks)
		}
		matched += best
	}
	slices.Sort(took)
	return t.out.Encode(map[string]any{
		"index": "dyn", "blocks": len(t.keys), "holders": t.holders, "event_blocks": t.ev, "what": "find: " + what,
		"p50_ns": took[reps/2].Nanoseconds(), "p99_ns": took[reps*99/100].Nanoseconds(), "mean_match": float64(matched) / float64(reps),
	})
}

// resident is how much memory the system counts for this process.
func resident() (int64, error) {
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/self/statm: %q", b)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
