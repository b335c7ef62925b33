package agentbench

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestExport: what prompts have in common has the same ids, and nothing else
// has.
func TestExport(t *testing.T) {
	var b strings.Builder
	err := Export(&b, Load{Prefix: 1100}, []Turn{
		{Session: 0, Turn: 0, At: 5 * time.Millisecond, Prompt: 1300, Output: 7},
		{Session: 0, Turn: 1, At: 9 * time.Second, Prompt: 1600, Output: 8},
		{Session: 1, Turn: 0, At: 0, Prompt: 1024, Output: 9},
		{Session: 1, Turn: 1, At: time.Minute, Err: errors.New("lost")},
	})
	want := `{"timestamp":0,"input_length":1024,"output_length":9,"hash_ids":[0,1]}
{"timestamp":5,"input_length":1300,"output_length":7,"hash_ids":[0,1,2]}
{"timestamp":9000,"input_length":1600,"output_length":8,"hash_ids":[0,1,3,4]}
`
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
}
