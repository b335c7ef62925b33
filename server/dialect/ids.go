package dialect

import (
	"math/rand/v2"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewID returns prefix and 24 random letters and digits. It names things and
// keeps no secrets.
func NewID(prefix string) string {
	b := make([]byte, len(prefix)+24)
	n := copy(b, prefix)
	for i := n; i < len(b); i++ {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}

// NewCallID returns an id for a tool call in the form of the dialect.
func NewCallID(d turn.Dialect) string {
	if d == turn.Messages {
		return NewID("toolu_")
	}
	return NewID("call_")
}

// answerID names an answer after its turn, so that logs can be matched; a
// turn without an id gets a random one.
func answerID(prefix string, t *turn.Turn) string {
	if t.ID == "" {
		return NewID(prefix)
	}
	return prefix + t.ID
}

// ResponseOf returns the id of the response that an output item's id names, so
// that an item_reference can be followed.
func ResponseOf(itemID string) (id string, ok bool) {
	_, rest, _ := strings.Cut(itemID, "_")
	at := strings.LastIndexByte(rest, '_')
	if at <= 0 {
		return "", false
	}
	return "resp_" + rest[:at], true
}
