package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{{-1, "–"}, {0, "0"}, {999, "999"}, {1234, "1.23k"}, {45678, "45.7k"}, {262144, "262k"}, {4560000, "4.56M"}} {
		if got := count(c.n); got != c.want {
			t.Errorf("count(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{-time.Second, "0s"}, {59 * time.Second, "59s"}, {5 * time.Minute, "5m"}, {30 * time.Hour, "30h"}, {72 * time.Hour, "3d"}} {
		if got := ago(now.Add(-c.d), now); got != c.want {
			t.Errorf("ago(%v) = %q, want %q", c.d, got, c.want)
		}
	}
	if got := ago(time.Time{}, now); got != "–" {
		t.Errorf("ago(never) = %q, want –", got)
	}
}

func TestWaits(t *testing.T) {
	var s snapshot.Snapshot
	s.Daemon.State = "ready"
	if got := waits(s); got != "" {
		t.Errorf("%q of a daemon that is ready", got)
	}
	s.Daemon.State = "stopping"
	s.Workers = []snapshot.Worker{{InFlight: 1}, {InFlight: 2}}
	if got, want := waits(s), "the daemon is stopping: it waits for 3 turns"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	tab := table{head: []string{"A", "N"}, right: []int{1}}
	tab.add("long–name", "1")
	tab.add("b", "1234")
	for _, c := range []struct{ tty, want string }{
		{"", "A\tN\nlong–name\t1\nb\t1234\n"},
		{"80", "A             N\nlong–name     1\nb          1234\n"},
	} {
		t.Setenv("DYN_FORCE_TTY", c.tty)
		var b bytes.Buffer
		if err := tab.print(&b); err != nil || b.String() != c.want {
			t.Errorf("tty %q: got %q (%v), want %q", c.tty, b.String(), err, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a-b/c.d:1", "a-b/c.d:1"}, {"", "''"}, {"a b", "'a b'"}, {"it's", `'it'\''s'`}, {"$x", "'$x'"},
	} {
		if got := quote(c.in); got != c.want {
			t.Errorf("quote(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

// The form of each document is a promise: a field that goes, or changes its
// kind, changes this file.
func TestJSONForms(t *testing.T) {
	var b strings.Builder
	for _, doc := range []struct {
		command string
		value   any
	}{
		{"<any>: an error", errorDoc{}},
		{"bench agent", benchDoc{}},
		{"config ls", configListDoc{}},
		{"config set", configSetDoc{}},
		{"doctor", doctorDoc{}},
		{"down", downDoc{}},
		{"engine doctor", engineDoctorDoc{}},
		{"engine install", engineDone{}},
		{"engine ls", engineListDoc{}},
		{"engine rm", engineRemoveDoc{}},
		{"forget", forgetDoc{}},
		{"drain, restart, detach", workerDoc{}},
		{"key add, key rm", keyDoc{}},
		{"key ls", keyListDoc{}},
		{"leases", leasesDoc{}},
		{"logs", logDoc{}},
		{"parsers gen", parserGenDoc{}},
		{"parsers ls", parserListDoc{}},
		{"parsers run", parserEvent{}},
		{"parsers which", parserWhichDoc{}},
		{"pin", pinDoc{}},
		{"ps", psDoc{}},
		{"replay", replayDoc{}},
		{"run", runDoc{}},
		{"stats", statsDoc{}},
		{"top --once", snapshot.Snapshot{}},
		{"unpin", unpinDoc{}},
		{"up", step{}},
		{"up --dry-run", planDoc{}},
		{"version", versionDoc{}},
		{"why", whyDoc{}},
	} {
		fmt.Fprintf(&b, "dyn %s\n", doc.command)
		paths := map[string]bool{}
		form(reflect.TypeOf(doc.value), "", paths)
		var lines []string
		for p := range paths {
			lines = append(lines, p)
		}
		sort.Strings(lines)
		for _, l := range lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
		fmt.Fprintln(&b)
	}
	golden(t, "testdata/json.golden", []byte(b.String()))
}

// form lists the fields of a type, each with its kind in JSON.
func form(t reflect.Type, at string, out map[string]bool) {
	if t == reflect.TypeFor[time.Time]() {
		out[at+" time"] = true
		return
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		out[at+" any"] = true
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		form(t.Elem(), at+"?", out)
	case reflect.Slice:
		form(t.Elem(), at+"[]", out)
	case reflect.Map:
		form(t.Elem(), at+".*", out)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && len(f.Index) <= 2 {
				form(f.Type, strings.TrimPrefix(at+"."+name, "."), out)
			}
		}
	case reflect.String:
		out[at+" string"] = true
	case reflect.Bool:
		out[at+" bool"] = true
	default:
		out[at+" number"] = true
	}
}
