package route

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Turns that the gate holds, and those passed by, keep their places: whatever
// is done, what is popped is the least of what may be, and all counts.
func TestHeldAgainstList(t *testing.T) {
	type one struct {
		Item
		passed bool
	}
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var list []one
		least := func(held bool) int {
			best := -1
			for i := range list {
				if list[i].Held == held && !list[i].passed && (best < 0 || list[i].before(&list[best].Item)) {
					best = i
				}
			}
			return best
		}
		for i := range rapid.IntRange(0, 80).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 8).Draw(t, "what"); what {
			case 0, 1, 2:
				it := of("", fmt.Sprint(i), rapid.IntRange(0, 5).Draw(t, "at"))
				it.Strict = rapid.IntRange(0, 1).Draw(t, "strict")
				if err := q.Push(it); err != nil {
					t.Fatal(err)
				}
				it.seq = q.seq
				list = append(list, one{it, false})
			case 3:
				if len(list) > 0 {
					k := rapid.IntRange(0, len(list)-1).Draw(t, "gone")
					if !q.Remove(list[k].ID) {
						t.Fatal("not found")
					}
					list = slices.Delete(list, k, k+1)
				}
			case 4:
				q.Recall()
				q.RecallHeld()
				for k := range list {
					list[k].passed = false
				}
			default:
				held := what > 6
				pop := q.Pop
				if held {
					pop = q.PopHeld
				}
				got, ok := pop()
				k := least(held)
				if ok != (k >= 0) || ok && got.ID != list[k].ID {
					t.Fatalf("popped %q %v, want %d of %+v", got.ID, ok, k, list)
				}
				if !ok {
					continue
				}
				list = slices.Delete(list, k, k+1)
				how := rapid.IntRange(0, 4).Draw(t, "then")
				got.Held = how%2 == 1
				switch {
				case how == 4: // it went
				case how > 1:
					q.Pass(got)
					list = append(list, one{got, true})
				default:
					q.Return(got)
					list = append(list, one{got, false})
				}
			}
			held := 0
			for k := range list {
				if list[k].Held {
					held++
				}
			}
			if q.Len() != len(list) || q.Held() != held {
				t.Fatalf("%d wait and %d are held, want %d and %d", q.Len(), q.Held(), len(list), held)
			}
		}
	})
}

// The gate lets tenants in by turns, too, and one that was let in has not had
// its turn at a worker by that.
func TestGateIsFair(t *testing.T) {
	var q Queue
	for i := range 20 {
		q.Push(of("flood", fmt.Sprint("f", i), 0))
	}
	q.Push(of("other", "o0", 9))
	q.Push(of("other", "o1", 9))
	for range 22 {
		it, _ := q.Pop()
		it.Held = true
		q.Pass(it)
	}
	q.RecallHeld()
	in := ""
	for range 4 {
		it, _ := q.PopHeld()
		in += it.ID[:1]
		it.Held = false
		q.Return(it)
	}
	if strings.Count(in, "o") != 2 {
		t.Fatalf("the gate let in %s", in)
	}
	if got := drain(&q); strings.Count(got, "o") != 2 || strings.Count(got, "f") != 2 {
		t.Fatalf("at the workers %s", got)
	}
}

// Nobody's turns have the whole queue, and what has begun is not refused.
func TestWhoIsRefused(t *testing.T) {
	q := Queue{Limit: 3, PerTenant: 1, MaxAge: time.Minute}
	push := func(tenant, id string, begun bool) error {
		it := of(tenant, id, 0)
		it.Begun = begun
		return q.Push(it)
	}
	for _, c := range []struct {
		tenant, id string
		begun      bool
		want       error
	}{
		{"", "a", false, nil}, {"", "b", false, nil}, {"x", "c", false, nil}, {"x", "d", false, ErrQueueFull}, {"y", "e", true, nil}, {"x", "f", true, nil},
	} {
		if err := push(c.tenant, c.id, c.begun); !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Fatalf("%s: %v, want %v", c.id, err, c.want)
		}
	}
	q.Remove("a")
	q.Remove("b")
	q.Remove("e")
	if err := push("x", "g", false); !errors.Is(err, ErrTenantFull) {
		t.Fatalf("a second of x: %v", err)
	}
}

// An attempt's age is its own, however old its place is.
func TestAgeOfARetry(t *testing.T) {
	q := Queue{MaxAge: time.Minute}
	q.Push(of("", "new", 100))
	again := of("", "again", 0)
	again.Since = epoch.Add(100 * time.Second)
	q.Push(again)
	q.Expired(epoch.Add(159*time.Second), func(it Item) { t.Errorf("%s expired", it.ID) })
	if it, _ := q.Peek(); it.ID != "again" {
		t.Errorf("first is %s", it.ID)
	}
	var old []string
	q.Expired(epoch.Add(160*time.Second), func(it Item) { old = append(old, it.ID) })
	if fmt.Sprint(old) != "[again new]" || q.Len() != 0 {
		t.Errorf("expired %v", old)
	}
}
