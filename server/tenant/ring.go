package tenant

import (
	"crypto/sha256"
	"crypto/subtle"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/agentinfer/dyn/turn"
)

// Ring is the keys in force. The zero value has none.
type Ring struct {
	set  sync.Mutex // held while keys are replaced
	keys atomic.Pointer[map[[32]byte]*Tenant]
}

// Set replaces the keys. Of two with one hash the later one counts.
func (r *Ring) Set(keys []turn.Key) {
	r.set.Lock()
	defer r.set.Unlock()
	old := map[string]*Tenant{}
	for _, t := range r.all() {
		old[t.Key().Name] = t
	}
	now := make(map[[32]byte]*Tenant, len(keys))
	for _, k := range keys {
		t := old[k.Name]
		if t == nil {
			t = &Tenant{}
		}
		t.change(k)
		now[k.Hash] = t
	}
	r.keys.Store(&now)
}

// Empty reports that there is no key.
func (r *Ring) Empty() bool {
	m := r.keys.Load()
	return m == nil || len(*m) == 0
}

// Find returns the tenant whose key has this secret, or nil.
func (r *Ring) Find(secret []byte) *Tenant {
	m := r.keys.Load()
	if m == nil || len(secret) == 0 {
		return nil
	}
	hash := sha256.Sum256(secret)
	t := (*m)[hash]
	if t == nil {
		return nil
	}
	if k := t.Key(); subtle.ConstantTimeCompare(k.Hash[:], hash[:]) != 1 {
		return nil // replaced this moment
	}
	return t
}

// All returns the tenants in the order of their names.
func (r *Ring) All() []*Tenant {
	list := r.all()
	sort.Slice(list, func(i, j int) bool { return list[i].Key().Name < list[j].Key().Name })
	return list
}

func (r *Ring) all() []*Tenant {
	m := r.keys.Load()
	if m == nil {
		return nil
	}
	list := make([]*Tenant, 0, len(*m))
	for _, t := range *m {
		list = append(list, t)
	}
	return list
}
