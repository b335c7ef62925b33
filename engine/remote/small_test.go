package remote_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

func TestBody(t *testing.T) {
	var b remote.Body
	half, none := 0.5, math.NaN()
	b.Text("a", "x\"\n")
	b.Open("in")
	b.Int("n", -3)
	b.Float("f", &half)
	b.Float("nan", &none)
	b.Float("nil", nil)
	b.Open("empty")
	b.Close()
	b.Close()
	b.Bool("t", true)
	b.Raw("raw", []byte(`[{}]`))
	b.IDs("ids", []uint32{1, 4294967295})
	b.IDs("no", nil)
	b.Members([]byte(`"m":1,"n":2`))
	b.Prompt("p", turn.IDsOf(7, 8))
	b.Prompt("q", turn.IDs{})
	got := b.Bytes()
	want := `{"a":"x\"\n","in":{"n":-3,"f":0.5,"empty":{}},"t":true,"raw":[{}],"ids":[1,4294967295],"no":[],"m":1,"n":2,"p":[7,8],"q":[]}`
	if string(got) != want || !json.Valid(got) {
		t.Errorf("got %s", got)
	}
	if got := new(remote.Body).Bytes(); string(got) != "{}" {
		t.Errorf("nothing is %s", got)
	}
}

// A long prompt is sent as it lies, and is the same text.
func TestBodyOfALongPrompt(t *testing.T) {
	many := make([]uint32, 5000)
	for i := range many {
		many[i] = uint32(i * 7)
	}
	for _, ids := range []turn.IDs{turn.IDsOf(many...), turn.IDsOf(many...).Written(), turn.IDsOf(many[:4096]...).Written()} {
		var b remote.Body
		b.Text("a", "b")
		b.Prompt("p", ids)
		b.Bool("t", true)
		var got struct {
			A string
			P []uint32
			T bool
		}
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || !slices.Equal(got.P, ids.Flat()) || got.A != "b" || !got.T {
			t.Errorf("%d ids came as %d, %v", ids.Len(), len(got.P), err)
		}
	}
}

func TestSamples(t *testing.T) {
	got := remote.Samples([]byte(`# TYPE x:a gauge
x:a{engine="0",model_name="a b"} 2.0
x:a{engine="1",model_name="a}b"} 1.0 1795977773000
x:b 4
y:b 5
x:broken{
x:nan NaN
x:c`), "x:")
	if len(got) != 2 || got["a"] != 3 || got["b"] != 4 {
		t.Errorf("got %v", got)
	}
}

func TestReach(t *testing.T) {
	s := remote.New(engine.Endpoint{URL: "http://gpu7:8000"})
	for _, c := range [][3]string{
		{"*", "5557", "tcp://gpu7:5557"},
		{"0.0.0.0", "1", "tcp://gpu7:1"},
		{"127.0.0.1", "9", ""}, // there it connects to
		{"*", "0", ""},
		{"*", "", ""},
	} {
		if got := s.Reach(c[0], c[1]); got != c[2] {
			t.Errorf("%s:%s is reached at %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestHeld(t *testing.T) {
	for text, want := range map[string]bool{` "dyn`: true, `"dyn form"`: true, `"`: false, "Sure": false, "": false} {
		if remote.Held(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
