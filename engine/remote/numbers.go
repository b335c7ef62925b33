package remote

import (
	"errors"
	"math"

	"github.com/tidwall/gjson"
)

// Most bounds the counts that are believed: any sum of a few of them is a
// number too.
const Most = 1 << 40

// Count is how many there are of something; what is no number, and what is
// below none, is none.
func Count(v gjson.Result) int { return int(min(max(v.Int(), 0), Most)) }

// Whole is a figure of a metrics page as a count, within the same bounds.
func Whole(x float64) int {
	if math.IsNaN(x) {
		return 0
	}
	return int(min(max(x, 0), Most))
}

var errID = errors.New("a token id that is none")

// IDs reads a list of token ids; nil is none. An id that cannot be one is an
// error, since the text would not be that of the ids.
func IDs(v gjson.Result) ([]uint32, error) {
	if !v.IsArray() {
		return nil, nil
	}
	var ids []uint32
	for _, one := range v.Array() {
		if one.Type != gjson.Number || one.Num < 0 || one.Num > math.MaxUint32 {
			return nil, errID
		}
		ids = append(ids, uint32(one.Num))
	}
	return ids, nil
}
