package ledger

import (
	"fmt"
	"reflect"
	"testing"
)

// A file of any earlier release is taken over: its turns are there, and new
// ones are written beside them.
func TestEveryEarlierSchemaIsTakenOver(t *testing.T) {
	for version := 1; version < len(schema()); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			db, path := older(t, version)
			var columns int
			if err := db.QueryRow("SELECT count(*) FROM pragma_table_info('turns')").Scan(&columns); err != nil {
				t.Fatal(err)
			}
			row := append(append([]any{}, firstTurn...), "alice", "json_object", 2, "it has images", `{"kind":"clock"}`, 1, 2.5)
			aRow(t, db, "turns", row[:min(columns, len(row))]...)
			_ = db.Close()
			l := Open(path, quick)
			l.Turn(turnOf(2))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := look(t, path).Turns(t.Context(), Query{})
			if err != nil || len(got) != 2 || got[0].ID != "t1" || !reflect.DeepEqual(got[1], turnOf(2)) {
				t.Errorf("turns = %+v, %v", got, err)
			}
		})
	}
}
