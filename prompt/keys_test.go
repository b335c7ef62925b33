package prompt

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/prompt/key"
	"github.com/agentinfer/dyn/turn"
)

// parts makes messages of few different parts, so that many are nearly equal.
func parts(t *rapid.T) turn.Message {
	word := rapid.SampledFrom([]string{"", "a", "aa", "\x01", "\x00"})
	m := turn.Message{Role: rapid.SampledFrom([]turn.Role{turn.User, turn.Assistant}).Draw(t, "role")}
	for range rapid.IntRange(0, 2).Draw(t, "blocks") {
		b := turn.Block{
			Kind: turn.BlockKind(rapid.IntRange(0, 2).Draw(t, "kind")), Text: word.Draw(t, "text"),
			ID: word.Draw(t, "id"), Name: word.Draw(t, "name"), IsError: rapid.Bool().Draw(t, "error"),
		}
		if raw := word.Draw(t, "raw"); raw != "" {
			b.Raw = json.RawMessage(raw)
		}
		if args := word.Draw(t, "args"); args != "" {
			b.Args = json.RawMessage(args)
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

// TestKeys: keys are equal where messages are, and nowhere else.
func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts(t), parts(t)
		keys := Keys(nil, &turn.Turn{Messages: []turn.Message{a, b, a}})
		if same := reflect.DeepEqual(a, b); (keys[0] == keys[1]) != same || keys[0] != keys[2] {
			t.Fatalf("%+v and %+v: %v", a, b, keys)
		}
	})
}

// TestKeysOfNoted: whatever Steady makes of messages whose keys are noted, as
// those are that a dialect.Recall hands out, their keys are those of what they
// then say.
func TestKeysOfNoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SampledFrom([]string{"", " ", "a", "aa", attribution + " x\nb", "<system-reminder>r"})
		var noted, plain turn.Turn
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			m := parts(t)
			m.Role = rapid.SampledFrom([]turn.Role{turn.System, turn.User, turn.Assistant, turn.ToolRole}).Draw(t, "speaker")
			for i := range m.Blocks {
				m.Blocks[i].Kind = turn.BlockKind(rapid.IntRange(0, int(turn.Other)).Draw(t, "any kind"))
				m.Blocks[i].Text = texts.Draw(t, "said")
			}
			noted.Messages, plain.Messages = append(noted.Messages, m), append(plain.Messages, m)
		}
		key.Note(noted.Messages)
		Steady(&noted)
		Steady(&plain)
		if got, want := Keys(nil, &noted), Keys(nil, &plain); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v, of %+v", got, want, plain.Messages)
		}
	})
}

// TestSums: a sum tells of all before it, and of the tenant.
func TestSums(t *testing.T) {
	sums := func(tenant string, texts ...string) []uint64 {
		tr := &turn.Turn{Tenant: tenant}
		for _, s := range texts {
			tr.Messages = append(tr.Messages, msg(turn.User, says(s)))
		}
		return Sums(nil, tr, Keys(nil, tr))
	}
	a := sums("", "1", "2", "3")
	if b := sums("", "1", "2", "4"); !slices.Equal(a[:2], b[:2]) || a[2] == b[2] {
		t.Errorf("%x and %x", a, b)
	}
	if b := sums("", "0", "2", "3"); a[1] == b[1] || a[2] == b[2] {
		t.Errorf("%x and %x", a, b)
	}
	if b := sums("t", "1", "2", "3"); a[2] == b[2] {
		t.Error("two tenants have a history in common")
	}
}
