package ledger

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/ledger/blob"
	"github.com/agentinfer/dyn/turn"
)

// older makes a ledger of an earlier schema.
func older(t *testing.T, version int) (*sql.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for i, step := range schema()[:version] {
		if _, err := db.Exec(fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", step, applicationID, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return db, path
}

// aRow fills a table's row, of so many columns, from a turn of the first
// schema.
func aRow(t *testing.T, db *sql.DB, table string, values ...any) {
	t.Helper()
	if _, err := db.Exec("INSERT INTO "+table+" VALUES (?"+strings.Repeat(",?", len(values)-1)+")", values...); err != nil {
		t.Fatal(err)
	}
}

var firstTurn = []any{
	"t1", nanos(noon), "messages", "", "s1", "main", "", "turn", "sim", true, 0, 0, "P0", 1, 0, 10,
	"w0", "{}", 1, 2, 3, 4, 5, 0.0, 1.0, 2.0, 0, "end", "",
}

// A file of the first schema keeps its rows.
func TestFirstSchemaIsMigrated(t *testing.T) {
	db, path := older(t, 1)
	aRow(t, db, "turns", firstTurn...)
	if _, err := OpenReader(path); err == nil {
		t.Error("a reader takes a file that is not migrated yet")
	}
	l := Open(path, quick)
	l.Turn(turnOf(2))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := look(t, path).Turns(t.Context(), Query{})
	if err != nil || len(got) != 2 || got[0].ID != "t1" || got[0].Tenant != "" || !reflect.DeepEqual(got[1], turnOf(2)) {
		t.Errorf("turns = %+v, %v", got, err)
	}
}

// One of the second keeps rows and content, and nothing is lost of what is
// told of sessions and agents.
func TestSecondSchemaIsMigrated(t *testing.T) {
	db, path := older(t, 2)
	aRow(t, db, "turns", append(firstTurn, "alice", "json_object", 2)...)
	aRow(t, db, "sessions", "s1", "", "sim", nanos(noon), nanos(noon))
	aRow(t, db, "agents", "s1", "main", "", nanos(noon), nanos(noon))
	aRow(t, db, "leases", "l1", "t1", nanos(noon), "s1", "main", "sim", 16, 1, 300.0, "asked")
	aRow(t, db, "workers", "w0", "sim", 1, "", "ready", nanos(noon), nanos(noon))
	aRow(t, db, "worker_events", nanos(noon), "w0", "sim", 1, "", "ready", "")
	var raws []turn.RawTurn
	for n := range 3 {
		raw := rawOf(n + 20)
		raws = append(raws, raw)
		data := blob.Append(nil, &raw)
		aRow(t, db, "raw_turns", raw.Model, int64(raw.Key), raw.Session, nanos(raw.At), len(data), data)
	}
	kept := storedOf(1)
	aRow(t, db, "responses", kept.ID, kept.Tenant, kept.Session, kept.Previous, kept.Model, nanos(kept.At), nanos(kept.Expires), 1, []byte(kept.Input), []byte(kept.Document))
	_ = db.Close()

	l := Open(path, quick)
	defer l.Close()
	for _, want := range raws {
		if got := found(t, l, want.Key); !sameRaw(got, want) {
			t.Errorf("raw turn %+v, want %+v", got, want)
		}
	}
	got, ok, err := l.Responses().Stored(t.Context(), kept.ID)
	if !ok || err != nil || !reflect.DeepEqual(got, kept) {
		t.Errorf("response %+v %v %v", got, ok, err)
	}
	r := look(t, path)
	all, err := r.Turns(t.Context(), Query{})
	if err != nil || len(all) != 1 || all[0].ID != "t1" || all[0].Tenant != "alice" || all[0].Edited != 2 {
		t.Errorf("turns = %+v, %v", all, err)
	}
	for table, n := range map[string]int{"sessions": 1, "agents": 1, "leases": 1, "workers": 1, "worker_events": 1, "raw_turns": 3, "responses": 1} {
		var got int
		if err := r.db.QueryRow("SELECT count(*) FROM " + table).Scan(&got); err != nil || got != n {
			t.Errorf("%s: %d rows, %v; want %d", table, got, err, n)
		}
	}
	f, err := l.Forget(t.Context(), "s1")
	if err != nil || f.Turns != 1 || f.Agents != 1 || f.Leases != 1 || f.RawTurns != 0 {
		t.Errorf("forgot %+v, %v", f, err)
	}
}
