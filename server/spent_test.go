package server

import (
	"strings"
	"testing"
)

// All tests of this package run so: whoever still looks at a body after its
// turn was decoded sees nonsense.
func init() {
	spent = func(b []byte) {
		for i := range b {
			b[i] = spoilt
		}
	}
}

const spoilt = 0xA5

// TestSpentBodies: nothing that outlives a request is the memory of its body:
// neither what is stored of it, nor what is recognised when it comes again.
func TestSpentBodies(t *testing.T) {
	room := []byte("a body")[:4]
	letGo(&room)
	if got := string(room[:6]); got != strings.Repeat(string([]byte{spoilt}), 6) {
		t.Fatalf("spent memory holds %q", got)
	}
	r := newRig(t, 1)
	tool := `{"type":"function","name":"look","description":"looks ` + strings.Repeat("far ", 400) + `","parameters":{"type":"object","properties":{"at":{"type":"string"}}}}`
	ask := func(input, more string) string {
		status, body := r.post("/v1/responses", `{"model":"sim","tools":[`+tool+`],"instructions":"`+strings.Repeat("be kind ", 200)+`","input":`+input+more+`}`)
		if status != 200 || strings.Contains(body, "\ufffd") {
			t.Fatalf("%d %.500s", status, body)
		}
		return dig(doc(t, body), "id").(string)
	}
	long := `[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.Repeat("one two ", 300) + `"}]}]`
	first := ask(long, "")
	for range 3 {
		ask(long, "") // recognised
	}
	next := ask(`"and more"`, `,"previous_response_id":"`+first+`"`)
	for _, id := range []string{first, next} {
		for _, path := range []string{"", "/input_items"} {
			status, body := r.get("/v1/responses/" + id + path)
			if status != 200 || strings.ContainsRune(body, '\uFFFD') || strings.Contains(body, string([]byte{spoilt, spoilt})) {
				t.Errorf("%s%s: %d %.300s", id, path, status, body)
			}
		}
	}
	if _, body := r.get("/v1/responses/" + first + "/input_items"); !strings.Contains(body, strings.Repeat("one two ", 300)) {
		t.Errorf("the input of %s: %.300s", first, body)
	}
}
