package prompt

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestToolsOnTheShelf: tools come back as they were, and of what is damaged
// nothing does.
func TestToolsOnTheShelf(t *testing.T) {
	behind := new(shelf)
	raw, who := NewRaw("m", 1<<20, behind), turn.Who{Session: "s", Agent: "main"}
	tools := []turn.Tool{
		{Name: "a__b", Namespace: "a", Bare: "b", Description: "says <b> \x00 \xff", Schema: json.RawMessage(" {\"n\": 1.50}\n"), Deferred: true},
		{Name: "c", Bare: "c", Custom: true},
	}
	raw.KeepTools(who, tools)
	if got := NewRaw("m", 1<<20, behind).Tools(who); !reflect.DeepEqual(got, tools) {
		t.Errorf("%+v, want %+v", got, tools)
	}
	for _, other := range []turn.Who{{Session: "s", Agent: "sub"}, {Session: "t", Agent: "main"}} {
		if got := raw.Tools(other); got != nil {
			t.Errorf("%+v has %+v", other, got)
		}
	}
	if got := NewRaw("n", 1<<20, behind).Tools(who); got != nil {
		t.Errorf("another model's agent has %+v", got)
	}
	kept, _ := behind.Find(ofTools+"m", toolsKey(who))
	whole := kept.Thinking
	for n := range whole {
		kept.Thinking = whole[:n]
		behind.Keep(kept)
		if got := raw.Tools(who); len(got) > 1 {
			t.Errorf("of %d bytes of %d: %+v", n, len(whole), got)
		}
	}
	kept.Thinking = strings.Repeat("\xff", 100)
	behind.Keep(kept)
	if got := raw.Tools(who); got != nil {
		t.Errorf("of nonsense: %+v", got)
	}
	raw.KeepTools(who, []turn.Tool{{Name: "long", Description: strings.Repeat("x", mostTools)}})
	if got := raw.Tools(who); got != nil {
		t.Error("too much was kept")
	}
	var none *Raw
	if none.KeepTools(who, tools); none.Tools(who) != nil {
		t.Error("nil holds something")
	}
}
