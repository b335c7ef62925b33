package dialect

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// headerWord is a header that carries a hint, its name in lower case; read
// reports whether the value can be read.
type headerWord struct {
	name string
	read func(h *turn.Hints, value string) bool
}

// headerWords are the headers that carry hints: Dynamo's and ours, of which
// the later counts. What a header holds that cannot be read is listed as not
// known: proxies add what they like, so it is no problem.
var headerWords = []headerWord{
	{"x-dynamo-request-priority", priorityHeader},
	{"x-dyn-priority", priorityHeader},
	{"x-dynamo-request-strict-priority", strictHeader},
	{"x-dyn-strict-priority", strictHeader},
	{"x-worker-instance-id", workerHeader},
	{"x-dynamo-worker-instance-id", workerHeader},
	{"x-dyn-worker", workerHeader},
	{"x-dyn-booking", func(h *turn.Hints, s string) bool { h.Booking = bounded(s); return true }},
	{"x-dynamo-session-final", finalHeader},
	{"x-dyn-session-final", finalHeader},
	{"x-dyn-osl", func(h *turn.Hints, s string) bool { return count(&h.OSL, s, 0) }},
	{"x-dyn-speculative-prefill", func(h *turn.Hints, s string) bool { return truth(&h.Prefill, s) }},
	{"x-dyn-agent-state", func(h *turn.Hints, s string) bool { h.State = bounded(s); return true }},
	{"x-dyn-turns-left", leftHeader},
	{"x-dyn-ephemeral", func(h *turn.Hints, s string) bool { return truth(&h.Ephemeral, s) }},
	{"x-dyn-tool-eta-ms", etaHeader},
	{"x-dyn-latency-class", func(h *turn.Hints, s string) bool { h.Batch = s == "batch"; return isClass(s) }},
	{"x-dyn-router-strategy", func(h *turn.Hints, s string) bool { h.Route.Strategy = bounded(s); return true }},
	{"x-dyn-router-temperature", func(h *turn.Hints, s string) bool { return weight(&h.Route.Temperature, s) }},
	{"x-dyn-router-prefill-weight", func(h *turn.Hints, s string) bool { return weight(&h.Route.PrefillWeight, s) }},
	{"x-dyn-router-overlap-credit", func(h *turn.Hints, s string) bool { return weight(&h.Route.OverlapCredit, s) }},
	{"x-dyn-extra-fields", func(h *turn.Hints, s string) bool { h.Extra = commas(s); return true }},
}

// OurPrefix begins the names of the headers that are ours, and of Dynamo's.
const OurPrefix = "x-dyn"

// OurHeaders is asked for in place of a header's name to learn which of those
// a request has: their names in lower case, with commas between.
const OurHeaders = OurPrefix + "*"

// looked is a lookup of headers that does not look for ours where a request has
// none.
func looked(header func(string) string) func(string) string {
	if header == nil {
		return func(string) string { return "" }
	}
	ours := header(OurHeaders)
	return func(name string) string {
		switch {
		case name == OurHeaders:
			return ours
		case ours == "" && strings.HasPrefix(name, OurPrefix):
			return ""
		}
		return header(name)
	}
}

// ourOther are headers of ours that are no hints.
var ourOther = []string{"x-dyn-session-id", "x-dyn-parent-session-id", "x-dyn-strict", "x-dyn-warning"}

// headers reads the hints in headers. One of ours that there is not is listed
// as not known; what others call theirs is theirs.
func (r *reader) headers(t *turn.Turn) {
	for name := range strings.SplitSeq(r.header(OurHeaders), ",") {
		if strings.HasPrefix(name, "x-dyn-") && !slices.Contains(ourOther, name) && !slices.ContainsFunc(headerWords, func(w headerWord) bool { return w.name == name }) {
			r.unknown(&t.Hints, name)
		}
	}
	for _, w := range headerWords {
		if value := r.header(w.name); value != "" && !w.read(&t.Hints, value) {
			r.unknown(&t.Hints, w.name)
		}
	}
	if t.Salt == "" { // Dynamo takes a tenant for the salt
		t.Salt = bounded(r.header("x-tenant-id"))
	}
}

func priorityHeader(h *turn.Hints, s string) bool { return count(&h.Priority, s, math.MinInt32) }
func strictHeader(h *turn.Hints, s string) bool   { return count(&h.Strict, s, 0) }
func finalHeader(h *turn.Hints, s string) bool    { return truth(&h.Final, s) }

func leftHeader(h *turn.Hints, s string) bool {
	ok := count(&h.TurnsLeft, s, 0)
	h.Final = h.Final || ok && h.TurnsLeft == 0
	return ok
}

func workerHeader(h *turn.Hints, s string) bool {
	h.Worker = bounded(s)
	return true
}

func etaHeader(h *turn.Hints, s string) bool {
	ms := 0
	ok := count(&ms, s, 0)
	if ok {
		h.ToolETA = time.Duration(ms) * time.Millisecond
	}
	return ok
}

// count sets n to a number of at least low.
func count(n *int, s string, low int) bool {
	m, err := strconv.ParseInt(s, 10, 32)
	if err != nil || int(m) < low {
		return false
	}
	*n = int(m)
	return true
}

// truth sets b to a boolean in any of Go's spellings.
func truth(b *bool, s string) bool {
	v, err := strconv.ParseBool(s)
	if err == nil {
		*b = v
	}
	return err == nil
}

// commas splits a comma-separated list.
func commas(s string) []string {
	var names []string
	for name := range strings.SplitSeq(s, ",") {
		if name = bounded(strings.TrimSpace(name)); name != "" && len(names) < namesMost {
			names = append(names, name)
		}
	}
	return names
}
