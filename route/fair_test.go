package route

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// of makes a turn of a tenant that arrived some seconds after the epoch.
func of(tenant, id string, at int) Item {
	it := waiting(id, at, turn.Who{}, turn.Hints{})
	it.Tenant = tenant
	return it
}

// A tenant that floods the queue delays another by one turn, not by all.
func TestFloodDelaysByOne(t *testing.T) {
	var q Queue
	for i := range 500 {
		if err := q.Push(of("flood", fmt.Sprint("f", i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		q.Pop()
	}
	for i := range 3 {
		q.Push(of("other", fmt.Sprint("o", i), 60))
	}
	got := ""
	for range 6 {
		it, _ := q.Pop()
		got += it.ID[:1]
	}
	if got != "ofofof" && got != "fofofo" {
		t.Fatalf("order %s", got)
	}
}

// Who was away does not come back with all that it did not use.
func TestTenantsDoNotSaveUp(t *testing.T) {
	var q Queue
	q.Push(of("rare", "r0", 0))
	q.Pop()
	for i := range 50 {
		q.Push(of("busy", fmt.Sprint("b", i), i))
	}
	for range 20 {
		q.Pop()
	}
	for i := range 10 {
		q.Push(of("rare", fmt.Sprint("r", i), 100))
	}
	rare := 0
	for range 10 {
		if it, _ := q.Pop(); it.Tenant == "rare" {
			rare++
		}
	}
	if rare < 4 || rare > 6 {
		t.Fatalf("%d of ten turns are of who was away", rare)
	}
}

// A band goes before fairness, and priority counts among a tenant's own.
func TestBandsBeforeTenants(t *testing.T) {
	var q Queue
	for i := range 5 {
		it := of("a", fmt.Sprint("a", i), i)
		it.Strict = 1
		q.Push(it)
	}
	q.Push(of("b", "b0", 0))
	if got := drain(&q); got != "a0 a1 a2 a3 a4 b0" {
		t.Fatalf("order %s", got)
	}
}

// A session that had much goes back, ten seconds at most.
func TestAttainedServiceGoesBack(t *testing.T) {
	var q Queue
	for _, c := range []struct {
		id  string
		at  int
		had time.Duration
	}{{"much", 0, time.Hour}, {"some", 1, 3 * time.Second}, {"none", 3, 0}, {"late", 11, 0}} {
		it := of("", c.id, c.at)
		it.Attained = c.had
		q.Push(it)
	}
	if got := drain(&q); got != "none some much late" {
		t.Fatalf("order %s", got)
	}
}

func TestQueueLimits(t *testing.T) {
	q := Queue{Limit: 5, PerTenant: 2, MaxAge: time.Minute}
	for i, it := range []Item{of("a", "1", 0), of("a", "2", 30), of("a", "3", 31), of("b", "4", 32)} {
		if err := q.Push(it); (err != nil) != (i == 2) || err != nil && !errors.Is(err, ErrQueueFull) {
			t.Fatalf("%s: %v", it.ID, err)
		}
	}
	var old []string
	q.Expired(epoch.Add(90*time.Second), func(it Item) { old = append(old, it.ID) })
	if len(old) != 2 || q.Len() != 1 {
		t.Fatalf("expired %v, %d wait", old, q.Len())
	}
	if err := q.Push(of("a", "5", 91)); err != nil {
		t.Fatal(err)
	}
}

// What is taken out and put back changes nothing.
func TestReturnChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b Queue
		for i := range rapid.IntRange(1, 30).Draw(t, "turns") {
			it := of(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "tenant"), fmt.Sprint(i), rapid.IntRange(0, 3).Draw(t, "at"))
			it.Strict = rapid.IntRange(0, 1).Draw(t, "strict")
			a.Push(it)
			b.Push(it)
		}
		for range rapid.IntRange(0, 40).Draw(t, "returns") {
			if it, ok := b.Pop(); ok {
				b.Return(it)
			}
		}
		x, y := drain(&a), drain(&b)
		if x != y {
			t.Fatalf("%s, and after turns were put back %s", x, y)
		}
	})
}
