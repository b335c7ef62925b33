package remote_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
)

func TestCount(t *testing.T) {
	const most = 1 << 40
	for text, want := range map[string]int{
		"7": 7, "7.9": 7, "-1": 0, "null": 0, `"x"`: 0, "[]": 0, "9223372036854775807": most, "1e300": most, "-1e300": 0, "99999999999999999999": most,
	} {
		if got := remote.Count(gjson.Parse(text)); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
	for x, want := range map[float64]int{7.9: 7, -1: 0, 1e300: most, math.Inf(1): most, math.Inf(-1): 0} {
		if got := remote.Whole(x); got != want {
			t.Errorf("%g is %d, want %d", x, got, want)
		}
	}
	if got := remote.Whole(math.NaN()); got != 0 {
		t.Errorf("NaN is %d", got)
	}
}

func TestIDs(t *testing.T) {
	for text, want := range map[string][]uint32{"[0,4294967295]": {0, math.MaxUint32}, "[]": nil, "null": nil, `"1"`: nil} {
		if got, err := remote.IDs(gjson.Parse(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"[-1]", "[4294967296]", "[1e300]", `["1"]`, "[null]", "[[1]]"} {
		if got, err := remote.IDs(gjson.Parse(text)); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}
